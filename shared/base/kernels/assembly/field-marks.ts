/**
 * Bitmaps of the lines of a call, for readers that go from line to line: each marks the block that it needs
 * next. A block is large enough that no load follows the store of its bits closely, and remains in the
 * fastest cache.
 */
import { LOOK_BITS } from './bits';
import { BARE_ENDS, CELL_TEXT, FIELD_LINES, QUOTES } from './field-layout';
import { heldByte } from './held';
import { BACKSLASH, EQUALS, eitherBits, QUOTE, SPACE } from './text-bytes';

const BLOCK: usize = 4096;

let total: usize = 0;
/** Offsets up to which the bits are set, multiples of 64. */
let quotesTo: usize = 0;
let bareEndsTo: usize = 0;

/** Begins a call. */
export function clearMarks(bytes: usize): void {
  total = bytes;
  quotesTo = 0;
  bareEndsTo = 0;
}

/** Sets a bit for each quote and backslash of a line, and of following ones. */
export function markQuotes(start: usize, end: usize): void {
  if (end <= quotesTo) return;
  const quote = heldByte(CELL_TEXT, QUOTE);
  const backslash = heldByte(CELL_TEXT + 1, BACKSLASH);
  let at = max(quotesTo, start & ~63);
  for (const to = min(end + BLOCK, total); at < to; at += 64) {
    let bits: u64 = 0;
    for (let part: usize = 0; part < 64; part += 16)
      bits |= u64(eitherBits(v128.load(at + part, FIELD_LINES), quote, backslash)) << u64(part);
    store<u64>(at >>> 3, bits, QUOTES);
  }
  quotesTo = at;
}

/** Returns the first quote or backslash from `from` on, or at least `end` if there is none. */
// @inline
export function plainEnd(from: usize, end: usize): usize {
  let at = from;
  while (at < end) {
    const bits = load<u64>(at >>> 3, QUOTES) >>> (at & 7);
    if (bits !== 0) return at + usize(ctz(bits));
    at += LOOK_BITS;
  }
  return at;
}

/**
 * Sets a bit for each byte of a line, and of following ones, that ends a bare word: separators, and bytes
 * that a bare word must not contain.
 */
export function markBareEnds(start: usize, end: usize): void {
  if (end <= bareEndsTo) return;
  const quote = heldByte(CELL_TEXT, QUOTE);
  const equals = heldByte(CELL_TEXT + 1, EQUALS);
  const behindSpace = heldByte(CELL_TEXT + 2, SPACE + 1);
  let at = max(bareEndsTo, start & ~63);
  for (const to = min(end + BLOCK, total); at < to; at += 64) {
    let bits: u64 = 0;
    for (let part: usize = 0; part < 64; part += 16) {
      const text = v128.load(at + part, FIELD_LINES);
      const separators = u32(i8x16.bitmask(i8x16.lt_u(text, behindSpace)));
      bits |= u64(eitherBits(text, quote, equals) | separators) << u64(part);
    }
    store<u64>(at >>> 3, bits, BARE_ENDS);
  }
  bareEndsTo = at;
}

/** Returns the first byte from `from` on that ends a bare word, or `end`. */
// @inline
export function bareEnd(from: usize, end: usize): usize {
  for (let at = from; at < end; at += LOOK_BITS) {
    const bits = load<u64>(at >>> 3, BARE_ENDS) >>> (at & 7);
    if (bits !== 0) return min(at + usize(ctz(bits)), end);
  }
  return end;
}
