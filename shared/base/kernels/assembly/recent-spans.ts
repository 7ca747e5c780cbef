/** Cache of spans of text that occurred in the lines, by a hash of some of their words. */
import { SPAN_SHIFT, SPANS, SPANS_BYTES, TERM_LINES, text, word } from './term-layout';

const FACTOR: u32 = 0x9e3779b1;

export function clearSpans(): void {
  memory.fill(SPANS, 0, SPANS_BYTES);
}

/**
 * Returns a hash of four bytes or more by the words at the ends, the middle and the quarters, which distinguish most texts of a page.
 * No product waits for another one. The high bits are the best.
 */
// @inline
export function quickHashOf(at: usize, length: usize): u32 {
  const quarter = (length - 4) >>> 2;
  const ends = load<u32>(at) * FACTOR + load<u32>(at + length - 4) * 0x85ebca6b;
  const quarters = load<u32>(at + quarter) * 0xc2b2ae35 + load<u32>(at + 3 * quarter) * 0x27d4eb2f;
  const h = ends + quarters + load<u32>(at + 2 * quarter) * 0x165667b1 + u32(length) * 0x9e3779b9;
  return (h ^ (h >>> 15)) * FACTOR;
}

/**
 * Returns whether the bytes `from` to `to`, at least five, occurred before; records them if not. Lines of one page are similar:
 * most spans between digits occurred before, and have no new gram.
 */
export function hasSeen(from: usize, to: usize): bool {
  const length = to - from;
  const span = SPANS + (usize(quickHashOf(TERM_LINES + from, length) >>> SPAN_SHIFT) << 3);
  const known = load<u32>(span);
  if (known !== 0 && load<u32>(span, 4) === u32(length) && isSame(usize(known - 1), from, length))
    return true;
  store<u32>(span, u32(from) + 1);
  store<u32>(span, u32(length), 4);
  return false;
}

function isSame(a: usize, b: usize, length: usize): bool {
  if (length < 16) {
    for (let i: usize = 0; i + 4 < length; i += 4) if (word(a + i) !== word(b + i)) return false;
    return word(a + length - 4) === word(b + length - 4);
  }
  const last = length - 16;
  for (let i: usize = 0; i < last; i += 16)
    if (v128.any_true(v128.xor(text(a + i), text(b + i)))) return false;
  return !v128.any_true(v128.xor(text(a + last), text(b + last)));
}
