/**
 * Joins lines from templates and columns (split-lines.ts), after split-read.ts has prepared the page. Rows are joined at any
 * target in the memory.
 *
 * A page may be corrupt. A join writes each line only at its target, and up to 79 bytes past the last line.
 */

import {
  COLUMN_STATE,
  PART_BYTES,
  STATE_A,
  STATE_B,
  STATE_COUNT,
  STATE_DETAIL,
  STATE_DIGITS,
  STATE_NEXT,
  STATE_TYPE,
} from './column-read';
import { HEX, NUMBER, PATTERN, TEXT, WORDS } from './column-types';
import { sixteenDigits } from './decimal-digits';
import { joinNumber } from './number-text';
import { clockDigits } from './row-clock';
import { copyOver } from './split-layout';
import {
  columnsOfPage,
  digitsAddress,
  firstPiece,
  NO_COLUMN,
  PIECE_BYTES,
  PIECE_COLUMN,
  PIECE_LENGTH,
  rowsOfPage,
  stateOf,
  templateOf,
} from './split-read';

/** Returns the hexadecimal letters of 8 bytes. */
// @inline
function hexDigits(bytes: usize): v128 {
  const packed = v128.load64_zero(bytes);
  const low = v128.and(packed, i8x16.splat(15));
  const high = v128.and(i16x8.shr_u(packed, 4), i8x16.splat(15));
  const halves = i8x16.shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const letters = i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);
  return i8x16.swizzle(letters, halves);
}

/** Writes a value from its digits. */
// @inline
function joinParts(parts: usize, bytes: usize, out: usize): void {
  for (let at: usize = 0; at < bytes; at += 16) {
    const digits = v128.load(digitsAddress() + usize(load<u32>(parts, 32)));
    v128.store(out + at, v128.or(i8x16.swizzle(digits, v128.load(parts, 16)), v128.load(parts)));
    parts += PART_BYTES;
  }
}

/** Writes value number `i` of a column of hexadecimal digits, and up to 31 bytes more. */
// @inline
export function joinHex(state: usize, i: usize, out: usize): void {
  const bytes = usize(load<u32>(state, STATE_DETAIL));
  const digits = usize(load<u32>(state, STATE_DIGITS));
  const step = (digits + 1) >>> 1;
  const from = usize(load<u32>(state, STATE_A)) + i * step;
  const isPure = digits === bytes;
  const to = isPure ? out : digitsAddress();
  for (let at: usize = 0; at < step; at += 8) v128.store(to + 2 * at, hexDigits(from + at));
  if (!isPure) joinParts(usize(load<u32>(state, STATE_B)), bytes, out);
}

/** Copies, and may write up to 31 bytes more. Most values are shorter than 32 bytes, whatever their length. */
// @inline
function copyValue(to: usize, from: usize, bytes: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  for (let i: usize = 32; i < bytes; i += 16) v128.store(to + i, v128.load(from + i));
}

/** Writes value number `i` of a column, in a row, to `out`. Returns its bytes, or more than fit up to `limit` if it does not fit. */
// @inline
function joinValue(state: usize, i: usize, row: usize, out: usize, limit: usize): usize {
  const type = load<u32>(state, STATE_TYPE);
  const a = usize(load<u32>(state, STATE_A));
  if (type === WORDS) {
    const index: usize = a === 0 ? 0 : usize(load<u8>(a + i));
    const entry = usize(load<u32>(state, STATE_B)) + (index << 3);
    const bytes = usize(load<u32>(entry, 4));
    if (out + bytes <= limit) copyValue(out, usize(load<u32>(entry)), bytes);
    return bytes;
  }
  if (type === TEXT) {
    const from = usize(load<u32>(a + (i << 2)));
    const bytes = usize(load<u32>(a + (i << 2), 4)) - from;
    if (out + bytes <= limit) copyValue(out, from, bytes);
    return bytes;
  }
  const detail = load<u32>(state, STATE_DETAIL);
  if (type === NUMBER) return joinNumber(load<i64>(a + (i << 3)), detail, out, limit);
  const bytes = usize(detail);
  if (out + bytes > limit) return bytes;
  if (type === HEX) {
    joinHex(state, i, out);
    return bytes;
  }
  if (type === PATTERN) v128.store(digitsAddress(), sixteenDigits(u64(load<i64>(a + (i << 3)))));
  else v128.store(digitsAddress(), clockDigits(row, load<u64>(a)));
  joinParts(usize(load<u32>(state, STATE_B)), bytes, out);
  return bytes;
}

/**
 * Writes the lines of rows `from` to `to`, each at its offset. Call it for the first rows of a page, then for those that follow.
 * @param offsets Offsets of all rows and of the end, 4 bytes each, relative to `out`
 * @param wanted Address of a byte for each row, 0 for rows whose line is filled with zeros; 0 to join all rows
 * @returns false if a line's length differs from its offsets, or if values are missing
 */
export function joinLines(from: u32, to: u32, offsets: usize, out: usize, wanted: usize): bool {
  for (let row = usize(from); row < usize(to); row++) {
    const piece = firstPiece(templateOf(row));
    const at = out + usize(load<u32>(offsets + (row << 2)));
    const limit = out + usize(load<u32>(offsets + (row << 2), 4));
    if (wanted !== 0 && load<u8>(wanted + row) === 0) {
      // The row before may have written past its end.
      memory.fill(at, 0, limit - at);
      skipValues(piece);
      continue;
    }
    if (joinPieces(piece, row, at, limit) !== limit) return false;
  }
  return usize(to) < rowsOfPage() || isDone();
}

/** Result of a line that does not fit, or lacks a value. Lines may begin at address 0. */
const FAILED: usize = usize.MAX_VALUE;

/** Writes a line from its pieces. Returns its end, or FAILED. */
// @inline
function joinPieces(first: usize, row: usize, out: usize, limit: usize): usize {
  let piece = first;
  let at = out;
  while (true) {
    const column = u32(load<u16>(piece, PIECE_COLUMN));
    const literal = usize(load<u16>(piece, PIECE_LENGTH));
    if (at + literal > limit) return FAILED;
    copyOver(at, usize(load<u32>(piece)), literal);
    at += literal;
    if (column === NO_COLUMN) return at;
    const state = stateOf(column);
    const i = load<u32>(state, STATE_NEXT);
    if (i >= load<u32>(state, STATE_COUNT)) return FAILED;
    store<u32>(state, i + 1, STATE_NEXT);
    const bytes = joinValue(state, usize(i), row, at, limit);
    if (bytes > limit - at) return FAILED;
    at += bytes;
    piece += PIECE_BYTES;
  }
}

/** Whether the rows have taken all values. */
function isDone(): bool {
  const end = stateOf(u32(columnsOfPage()));
  for (let state = stateOf(0); state < end; state += COLUMN_STATE) {
    if (load<u32>(state, STATE_NEXT) !== load<u32>(state, STATE_COUNT)) return false;
  }
  return true;
}

/**
 * Writes lines one behind the other, and up to 79 bytes past the last one.
 * @param offsets Output: offset of each line from `out`, and of the end, 4 bytes each
 * @param limit Address after the memory for the lines
 * @returns false if the lines do not fit, or if values are missing
 */
export function packLines(offsets: usize, out: usize, limit: usize): bool {
  const rows = rowsOfPage();
  let at = out;
  for (let row: usize = 0; row < rows; row++) {
    store<u32>(offsets + (row << 2), u32(at - out));
    at = joinPieces(firstPiece(templateOf(row)), row, at, limit);
    if (at === FAILED) return false;
  }
  store<u32>(offsets + (rows << 2), u32(at - out));
  return isDone();
}

/** Advances the columns of a row that is not joined. */
// @inline
function skipValues(first: usize): void {
  let piece = first;
  for (;;) {
    const column = u32(load<u16>(piece, PIECE_COLUMN));
    if (column === NO_COLUMN) return;
    const state = stateOf(column);
    store<u32>(state, load<u32>(state, STATE_NEXT) + 1, STATE_NEXT);
    piece += PIECE_BYTES;
  }
}
