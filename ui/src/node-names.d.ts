/**
 * What modules of `shared/language/logql` and `shared/base/model` name of Node.js. A browser does not have it: the page calls only functions
 * that do without (logql/grammar.ts).
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
