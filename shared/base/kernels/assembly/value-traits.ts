/**
 * Traits of a value for pattern mining, which depend on its gaps and words only (value-forms.ts): how many words it has, and whether
 * it is one word to mining.
 */
import { CLOSE_BRACKET, OPEN_BRACKET, QUOTE } from './text-bytes';
import { gapStop, isText, wordStop } from './value-words';
import { MAX_GROUP_WORDS } from './word-layout';

/** Bits of the number of words. */
export const WORDS_MASK: u32 = 0xffff;
/** The value has quotes, brackets or line feeds. */
export const HAS_SIGNS: u32 = 0x10000;
/** The value in quotes is one word to mining, because it has so many. */
export const IS_LONG: u32 = 0x20000;

const LINE_FEED: u32 = 0x0a;
const OPEN_PARENTHESIS: u32 = 0x28;
const CLOSE_PARENTHESIS: u32 = 0x29;
const QUESTION: u32 = 0x3f;

/** Returns the traits of a value, which are those of its form. Brackets count as in line-words.ts. */
export function traitsOf(from: usize, end: usize): u32 {
  let total: u32 = 0;
  let signs: u32 = 0;
  let isOne = true;
  /** Words if those in brackets count as one, those before the bracket, and the byte that closes it. */
  let count: u32 = 0;
  let before: u32 = 0;
  let closing: u32 = 0;
  let areValues = true;
  let at = from;
  while (at < end) {
    for (const start = gapStop(at, end); at < start; at++) {
      const byte = u32(load<u8>(at));
      if (byte === QUOTE || byte === LINE_FEED || byte === QUESTION) isOne = false;
      if (byte === OPEN_BRACKET || byte === OPEN_PARENTHESIS) {
        before = count;
        closing = byte === OPEN_BRACKET ? CLOSE_BRACKET : CLOSE_PARENTHESIS;
        areValues = true;
      } else if (byte === closing) {
        if (count - before > (areValues ? 1 : MAX_GROUP_WORDS)) count = before + 1;
        closing = 0;
      }
      if (isSign(byte)) signs = HAS_SIGNS;
    }
    if (at === end) break;
    const start = at;
    at = wordStop(start, end);
    total++;
    count++;
    // line-words.ts does not count this byte alone as text.
    if (isText && !(at - start === 1 && load<u8>(start) === 0xff)) areValues = false;
  }
  return min(total, WORDS_MASK) | signs | (isOne && count > MAX_GROUP_WORDS ? IS_LONG : 0);
}

/** Returns whether the byte is a quote, a bracket or a line feed. */
function isSign(byte: u32): bool {
  return (
    byte === QUOTE ||
    byte === LINE_FEED ||
    byte === OPEN_BRACKET ||
    byte === CLOSE_BRACKET ||
    byte === OPEN_PARENTHESIS ||
    byte === CLOSE_PARENTHESIS
  );
}
