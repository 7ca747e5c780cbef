/**
 * The bytes between two values of a line, such as `,"status":`. They name the next key, and the lines of a
 * stream repeat them. Each key keeps the gap that last followed it, and the key in that gap. One comparison of
 * 32 bytes then replaces the search for the key, and the checks of everything around it.
 *
 * A gap depends on nothing but the key before it: the key belongs to one object, which belongs to one object.
 * The gap behind an opening brace is separate. Keys whose lines are left to the parser have no gap before
 * them.
 */
import { FIELD_LINES, GAP_BYTES, KEY_GAPS } from './field-layout';

/** Gap that follows the value of a key. */
export const AFTER_VALUE: usize = KEY_GAPS;
/** Gap that follows the opening brace of the object that is the value of a key. */
export const IN_OBJECT: usize = KEY_GAPS + GAP_BYTES;

// Layout of a gap: its length, the key in it, a bit for each byte, and its bytes.
const NEXT_KEY: usize = 4;
const OWN_BITS: usize = 8;
const TEXT: usize = 16;
const MAX_GAP_BYTES: usize = GAP_BYTES - TEXT;
/** Longer than any line. */
const NO_GAP: u32 = 0x7fff_ffff;

/** Clears the gaps of a key. */
export function clearGaps(key: usize): void {
  store<u32>(key + AFTER_VALUE, NO_GAP);
  store<u32>(key + IN_OBJECT, NO_GAP);
}

/** Returns whether the line continues at `at` with this gap, and a value. */
// @inline
export function hasGap(gap: usize, at: usize, end: usize): bool {
  if (at + gapBytes(gap) >= end) return false;
  const low = i8x16.bitmask(i8x16.eq(v128.load(gap, TEXT), v128.load(at, FIELD_LINES)));
  const high = i8x16.bitmask(i8x16.eq(v128.load(gap, TEXT + 16), v128.load(at, FIELD_LINES + 16)));
  return (~(low | (high << 16)) & load<i32>(gap, OWN_BITS)) === 0;
}

// @inline
export function gapBytes(gap: usize): usize {
  return usize(load<u32>(gap));
}

// @inline
export function keyIn(gap: usize): usize {
  return usize(load<u32>(gap, NEXT_KEY));
}

/** Keeps the bytes `from` to `to` of the lines as a gap, with the key in it. */
export function keepGap(gap: usize, from: usize, to: usize, key: usize): void {
  const length = to - from;
  if (length > MAX_GAP_BYTES) return;
  store<u32>(gap, u32(length));
  store<u32>(gap, u32(key), NEXT_KEY);
  store<u32>(gap, u32((u64(1) << u64(length)) - 1), OWN_BITS);
  v128.store(gap, v128.load(from, FIELD_LINES), TEXT);
  v128.store(gap, v128.load(from, FIELD_LINES + 16), TEXT + 16);
}
