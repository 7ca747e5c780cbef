/** Texts that loops over bytes get wrong: cut characters, lone quotes, zeros, nothing at all, and every length around a block of 16. */
import fc from 'fast-check';

const PIECES = [
  'connection refused',
  'GET /api/v1/orders/48213/items?x=1',
  '{"a":1,"b":"c","d":{"e":null}}',
  'level=error msg="a b" x=',
  '192.168.13.7:8080',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  '2026-11-21T15:31:07.123456Z',
  '"',
  '\\',
  '\\"',
  '\\u00e9',
  '\0',
  '\n',
  'é',
  '接続',
  '😀',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '=',
  '.',
  ' ',
  'a',
  'Z',
  '7',
];

const piece: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES).map(text => Buffer.from(text)) },
  // A character that is cut.
  { weight: 1, arbitrary: fc.constantFrom('é', '接', '😀').map(text => Buffer.from(text).subarray(0, -1)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('a', '1', '"', '\\', '\0', '{', 'é', ' '), fc.nat(70))
      .map(([text, times]) => Buffer.from(text.repeat(times))),
  },
);

export const hostileText: fc.Arbitrary<Buffer> = fc
  .array(piece, { maxLength: 12 })
  .map(pieces => Buffer.concat(pieces));

export interface Page {
  readonly lines: Buffer;
  readonly lineOffsets: Uint32Array;
  readonly rows: number;
}

export function pageOf(texts: readonly Uint8Array[]): Page {
  const lineOffsets = new Uint32Array(texts.length + 1);
  for (const [i, { length }] of texts.entries()) lineOffsets[i + 1] = lineOffsets[i] + length;
  return { lines: Buffer.concat(texts), lineOffsets, rows: texts.length };
}

/** Few pages are empty, and few lines. */
export const hostilePage: fc.Arbitrary<Page> = fc.array(hostileText, { maxLength: 8 }).map(pageOf);

/** A text of `length` bytes, the same ones every time. */
export function mixedText(length: number, seed = 1): Buffer {
  const text = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    at += text.write(PIECES[(state >>> 8) % PIECES.length], at) || 1;
  }
  return text;
}
