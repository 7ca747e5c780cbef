/**
 * Node.js names that modules of `shared/language/logql` and `shared/base/model` use. A browser does not have
 * them: the page calls only functions that do not need them (logql/grammar.ts).
 */
interface Buffer extends Uint8Array {
  utf8Slice(start: number, end: number): string;
}

declare const Buffer: {
  from(data: string | readonly number[]): Buffer;
  of(...bytes: number[]): Buffer;
  concat(parts: readonly Buffer[]): Buffer;
  byteLength(text: string): number;
};
