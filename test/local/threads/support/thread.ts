/** A thread for tests that does what a call requests. */
import { workerData } from 'node:worker_threads';
import { serveThread } from '../../../../local/threads/serve-thread.ts';
import { ClientError, CorruptionError, TooLargeError } from '../../../../shared/base/model/errors.ts';
import { ConditionFailedError } from '../../../../shared/base/ports/table.ts';
import { ThrottledError } from '../../../../shared/base/ports/throttled.ts';

export interface ThreadData {
  /** Kind of start: `broken` and `silent` never become ready, `ends` ends before. Default: it becomes ready. */
  readonly start?: 'broken' | 'silent' | 'ends' | undefined;
  readonly number?: number;
}

export type TestCall =
  | { readonly does: 'echo'; readonly what: unknown }
  /** Lets go as soon as it is canceled. */
  | { readonly does: 'waits' }
  /** Answers on `release`, canceled or not. */
  | { readonly does: 'holds' }
  | { readonly does: 'hangs' }
  /** Keeps the thread busy for so long. */
  | { readonly does: 'works'; readonly ms: number }
  | { readonly does: 'exits'; readonly code: number }
  | { readonly does: 'throws-later' }
  | { readonly does: 'fills' }
  | { readonly does: 'fails'; readonly error: keyof typeof ERRORS }
  | { readonly does: 'unclonable' }
  | { readonly does: 'moves'; readonly bytes: Uint8Array }
  /** Sends a request, and answers with the reply, or with the error of a refusal. */
  | { readonly does: 'asks'; readonly what: unknown; readonly cancelsAfterMs?: number }
  | { readonly does: 'tells'; readonly what: unknown }
  /** Numbers of calls canceled and messages received so far. */
  | { readonly does: 'reports' };

const ERRORS = {
  client: () => new ClientError(422, 'no'),
  tooLarge: () => new TooLargeError('too much'),
  corrupt: () => new CorruptionError('chunk x: broken'),
  throttled: () => new ThrottledError('later'),
  condition: () => new ConditionFailedError({ pk: 'p', sk: 's' }, 3),
  caused: () => new Error('outer', { cause: new CorruptionError('inner') }),
  text: () => 'only text',
} as const;

const { start, number } = workerData as ThreadData;
if (start === 'ends') process.exit(4);

let canceled = 0;
const heard: unknown[] = [];
const held: (() => void)[] = [];

serveThread<TestCall, unknown>(async starter => {
  if (start === 'broken') throw new CorruptionError('table x: not readable');
  if (start === 'silent') await new Promise(() => undefined);
  return {
    async call(call, signal) {
      signal.addEventListener('abort', () => canceled++, { once: true });
      switch (call.does) {
        case 'echo':
          return { value: [call.what, number] };
        case 'waits':
          await new Promise((_, reject) => {
            if (signal.aborted) reject(signal.reason);
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          });
          return { value: undefined };
        case 'holds':
          await new Promise<void>(resolve => held.push(resolve));
          return { value: 'held' };
        case 'hangs':
          for (;;);
        case 'works':
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, call.ms);
          return { value: 'worked' };
        case 'exits':
          return process.exit(call.code);
        case 'throws-later':
          setImmediate(() => {
            throw new Error('a defect');
          });
          await new Promise(() => undefined);
          return { value: undefined };
        case 'fills': {
          const kept: unknown[] = [];
          for (;;) kept.push(new Array(10_000).fill(kept.length));
        }
        case 'fails':
          throw ERRORS[call.error]();
        case 'unclonable':
          return { value: () => undefined };
        case 'moves': {
          const bytes = new Uint8Array(call.bytes).fill(7);
          return { value: bytes, moved: [bytes.buffer] };
        }
        case 'asks': {
          const cancel = new AbortController();
          const { what, cancelsAfterMs } = call;
          if (cancelsAfterMs !== undefined)
            setTimeout(() => cancel.abort(new Error('enough')), cancelsAfterMs);
          const reply = await starter.ask(what, { signal: cancel.signal }).catch((error: unknown) => {
            const { name, message } = error as Error;
            return { name, message };
          });
          return { value: reply };
        }
        case 'tells':
          starter.tell(call.what);
          return { value: undefined };
        case 'reports':
          return { value: { canceled, heard } };
      }
    },
    hear(told) {
      heard.push(told);
      if (told === 'release') for (const release of held.splice(0)) release();
    },
    async stop() {
      starter.tell('stopped');
    },
  };
});
