/** Types of results-reporter.mjs for TypeScript. */
interface TestEvent {
  readonly type: string;
  readonly data: { readonly name: string; readonly details?: { readonly error?: Error } };
}

export default function results(
  events: AsyncIterable<TestEvent> | Iterable<TestEvent>,
): AsyncGenerator<string>;
