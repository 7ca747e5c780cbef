/**
 * Bitmaps of the lines of a call, for readers that go from line to line: each marks the block that it needs
 * next. A block is large enough that no load follows the store of its bits closely, and remains in the
 * fastest cache.
 */
import { LOOK_BITS } from './bits';
import { BARE_ENDS, FIELD_LINES, QUOTES } from './field-layout';
import { bareEndBits, quoteBits } from './text-bytes';

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
  let at = max(quotesTo, start & ~63);
  for (const to = min(end + BLOCK, total); at < to; at += 64) {
    const low = quoteBits(v128.load(at, FIELD_LINES)) | (quoteBits(v128.load(at, FIELD_LINES + 16)) << 16);
    const high =
      quoteBits(v128.load(at, FIELD_LINES + 32)) | (quoteBits(v128.load(at, FIELD_LINES + 48)) << 16);
    store<u64>(at >>> 3, u64(low) | (u64(high) << 32), QUOTES);
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
  let at = max(bareEndsTo, start & ~63);
  for (const to = min(end + BLOCK, total); at < to; at += 64) {
    const low =
      bareEndBits(v128.load(at, FIELD_LINES)) | (bareEndBits(v128.load(at, FIELD_LINES + 16)) << 16);
    const high =
      bareEndBits(v128.load(at, FIELD_LINES + 32)) | (bareEndBits(v128.load(at, FIELD_LINES + 48)) << 16);
    store<u64>(at >>> 3, u64(low) | (u64(high) << 32), BARE_ENDS);
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
