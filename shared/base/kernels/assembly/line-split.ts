/**
 * Finds successive literals in lines (shared/base/kernels/literal-finder.ts).
 *
 * The search compares the first and last byte of a literal at 16 positions at a time. It reads up to 15 bytes
 * and the literal's length past the last line.
 */

/** Size of a program step: a literal, padded to MAX_LITERAL_BYTES, and its length as a word. */
export const SPLIT_STEP_BYTES: usize = 36;
export const MAX_LITERAL_BYTES: usize = 32;

/** Marks a missing literal. Lines may begin at address 0. */
const NONE: usize = usize.MAX_VALUE;

/**
 * @param rows Words with the starts of the lines, then the end of the last line at `rowsEnd`
 * @param lead Number of bytes to skip at the start of each line
 * @param program Steps up to `programEnd`
 * @param out Output: one word for each step of each line, -1 for a missing literal and all later ones
 */
export function splitLines(
  rows: usize,
  rowsEnd: usize,
  lead: usize,
  program: usize,
  programEnd: usize,
  out: usize,
): void {
  for (let row = rows; row < rowsEnd; row += 4) {
    let at = usize(load<u32>(row)) + lead;
    const end = usize(load<u32>(row, 4));
    let step = program;
    for (; step < programEnd; step += SPLIT_STEP_BYTES) {
      const length = usize(load<u32>(step, MAX_LITERAL_BYTES));
      const hit = find(at, end, step, length);
      if (hit === NONE) break;
      store<u32>(out, u32(hit));
      out += 4;
      at = hit + length;
    }
    for (; step < programEnd; step += SPLIT_STEP_BYTES) {
      store<i32>(out, -1);
      out += 4;
    }
  }
}

/** Returns the first address of the literal between `from` and `end`, or NONE. */
// @inline
function find(from: usize, end: usize, literal: usize, length: usize): usize {
  const tail = length - 1;
  const first = v128.load_splat<u8>(literal);
  const last = v128.load_splat<u8>(literal + tail);
  for (let at = from; at + tail < end; at += 16) {
    let hits = i8x16.bitmask(v128.and(i8x16.eq(v128.load(at), first), i8x16.eq(v128.load(at + tail), last)));
    for (; hits !== 0; hits &= hits - 1) {
      const hit = at + usize(ctz(hits));
      if (hit + tail >= end) return NONE;
      let i: usize = 1;
      while (i < tail && load<u8>(hit + i) === load<u8>(literal + i)) i++;
      if (i >= tail) return hit;
    }
  }
  return NONE;
}
