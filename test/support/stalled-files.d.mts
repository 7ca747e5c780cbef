/** Types of stalled-files.mjs for TypeScript. */
interface Options {
  readonly maxMs: number;
  readonly end: (files: readonly string[]) => void;
}

export default class StalledFiles {
  constructor(globalConfig: unknown, options: Options);
  onTestFileStart(test: { readonly path: string }): void;
  onTestFileResult(test: { readonly path: string }): void;
}
