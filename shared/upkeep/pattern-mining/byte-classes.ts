/**
 * Classifies the bytes of words. All other bytes separate words and belong to the line's structure, which
 * never varies in a pattern.
 *
 * Pitfall: a pattern finds the lines that it was mined from only because of this table. The text after a
 * placeholder begins with a byte that no word contains, so the first occurrence of that text is the end of
 * the word.
 */

/** Separates words. */
export const SEPARATOR = 0;
/** Bits of a byte inside a word. */
const TEXT = 1;
export const DIGIT = 2;
export const SLASH = 4;
/** Inside a word, but a separator where a word would begin: `"a":1`. */
export const COLON = 8;

export const QUOTE = 0x22;
export const QUESTION = 0x3f;
export const EQUALS = 0x3d;
export const SPACE = 0x20;

/** Represents a placeholder in the bytes of a template. No UTF-8 text contains it. It counts as a word. */
export const PLACEHOLDER_BYTE = 0xff;

export const CLASS_OF: Uint8Array = classes('_-.@%+~#$*', TEXT);
/** Bytes of a query string, which continues a path after `?`. */
export const IN_QUERY: Uint8Array = Uint8Array.from(classes('_-.@%+~#$*?&=;,!', TEXT), kind =>
  kind > 0 ? 1 : 0,
);

function classes(others: string, kind: number): Uint8Array {
  const table = new Uint8Array(256);
  for (let byte = 0x30; byte <= 0x39; byte++) table[byte] = DIGIT;
  for (let byte = 0x41; byte <= 0x5a; byte++) table[byte] = table[byte + 0x20] = TEXT;
  for (let byte = 0x80; byte <= 0xff; byte++) table[byte] = TEXT;
  for (const byte of Buffer.from(others)) table[byte] = kind;
  table[0x2f] = SLASH;
  table[0x3a] = COLON;
  return table;
}
