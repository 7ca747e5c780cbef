/**
 * Places of literals in lines, one behind the other (shared/base/kernels/line-splitter.ts).
 *
 * A literal is found by its first and last byte, 16 places at once, so memory past the last line is read, up to 15 bytes and a
 * literal.
 */

/** A step of a program: a literal, and its length as a word behind MAX_LITERAL_BYTES. */
export const SPLIT_STEP_BYTES: usize = 36;
export const MAX_LITERAL_BYTES: usize = 32;

/** No place: lines may begin at address 0. */
const NONE: usize = usize.MAX_VALUE;

/**
 * @param rows words of where lines start, and behind the last where it ends; `rowsEnd` is the address of that one
 * @param lead bytes of each line that are passed over
 * @param program steps up to `programEnd`
 * @param out where the places go, for each line a word for each step; a literal that is not there and all behind it have -1
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
      const place = find(at, end, step, length);
      if (place === NONE) break;
      store<u32>(out, u32(place));
      out += 4;
      at = place + length;
    }
    for (; step < programEnd; step += SPLIT_STEP_BYTES) {
      store<i32>(out, -1);
      out += 4;
    }
  }
}

/** First place of the literal between `from` and `end`, or NONE. */
// @inline
function find(from: usize, end: usize, literal: usize, length: usize): usize {
  const tail = length - 1;
  const first = v128.load_splat<u8>(literal);
  const last = v128.load_splat<u8>(literal + tail);
  for (let at = from; at + tail < end; at += 16) {
    let hits = i8x16.bitmask(v128.and(i8x16.eq(v128.load(at), first), i8x16.eq(v128.load(at + tail), last)));
    for (; hits !== 0; hits &= hits - 1) {
      const place = at + usize(ctz(hits));
      if (place + tail >= end) return NONE;
      let i: usize = 1;
      while (i < tail && load<u8>(place + i) === load<u8>(literal + i)) i++;
      if (i >= tail) return place;
    }
  }
  return NONE;
}
