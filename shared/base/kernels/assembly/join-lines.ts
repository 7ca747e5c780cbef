/**
 * Joins lines from templates and columns (split-lines.ts). The host writes a split page, the frame and then the columns.
 * `openSplit` returns the memory that reading needs, and `laySplit` receives it. Then rows are joined at any target in the
 * memory.
 *
 * The input belongs to a stored page and may be corrupt. A join writes each line only at its target, and up to 79 bytes past the
 * last line.
 */

import {
  COLUMN_STATE,
  layColumn,
  PART_BYTES,
  STATE_A,
  STATE_B,
  STATE_COUNT,
  STATE_DETAIL,
  STATE_DIGITS,
  STATE_NEXT,
  STATE_TYPE,
  stateBytes,
} from './column-read';
import { NUMBER, PATTERN, TEXT, WORDS } from './column-types';
import { RECORD_BYTES, RECORD_COUNT } from './number-pack';
import {
  COLUMN_RECORD,
  copyOver,
  FRAME_HEAD,
  MAX_COLUMNS,
  MAX_PIECES,
  MAX_SPANS,
  MAX_TEMPLATES,
} from './split-layout';

/** Size of the area before a page: digits of the current value, and padding for copies. */
export const DIGITS_BYTES: usize = 128;

let digitsAt: usize = 0;
let rows: usize = 0;
let templates: usize = 0;
let pieces: usize = 0;
let columns: usize = 0;
let lengthsAt: usize = 0;
let recordsAt: usize = 0;
let idsAt: usize = 0;
let columnsAt: usize = 0;
let isWide: bool = false;
/** Address of the first piece of each template. A piece is an address, its bytes (2) and its column (2) or NO_COLUMN. */
let startsAt: usize = 0;
let statesAt: usize = 0;
/** Next row to join. */
let nextRow: usize = 0;

const NO_COLUMN: u32 = 0xffff;

/**
 * Returns the bytes needed to read the page from `at` to `end`, or 0 if the page is invalid. Writes to the DIGITS_BYTES before
 * it.
 */
export function openSplit(at: usize, end: usize, pageRows: u32): u32 {
  if (end - at < FRAME_HEAD) return 0;
  digitsAt = at - DIGITS_BYTES;
  templates = usize(load<u32>(at));
  pieces = usize(load<u32>(at, 4));
  const text = usize(load<u32>(at, 8));
  columns = usize(load<u32>(at, 12));
  rows = usize(pageRows);
  const width = usize(load<u32>(at, 20));
  if (templates >= MAX_TEMPLATES || pieces > MAX_PIECES || columns > MAX_COLUMNS || columns === 0) return 0;
  if (load<u32>(at, 16) !== pageRows || width === 0 || width > 2 || text > end - at) return 0;
  lengthsAt = at + FRAME_HEAD;
  const textAt = lengthsAt + 2 * templates + 4 * pieces;
  recordsAt = textAt + text;
  idsAt = recordsAt + columns * COLUMN_RECORD;
  columnsAt = idsAt + width * rows;
  isWide = width === 2;
  if (columnsAt > end) return 0;
  let total: u64 = 0;
  let values: u64 = 0;
  let room = i64(8 * (pieces + 2) + 8 * (templates + 1) + columns * COLUMN_STATE);
  for (let column: usize = 0; column < columns; column++) {
    const record = recordsAt + column * COLUMN_RECORD;
    const bytes = stateBytes(record);
    if (bytes < 0) return 0;
    room += bytes;
    total += u64(load<u32>(record, RECORD_BYTES));
    values += u64(load<u32>(record, RECORD_COUNT));
    if (values > MAX_SPANS) return 0;
  }
  return total === u64(end - columnsAt) ? u32(room) : 0;
}

/** Prepares the opened page, in the memory that `openSplit` requested. Returns false if its bytes are invalid. */
export function laySplit(room: usize): bool {
  startsAt = room;
  const piecesAt = startsAt + 8 * (templates + 1);
  statesAt = piecesAt + 8 * (pieces + 2);
  nextRow = 0;
  return layTemplates(piecesAt) && layColumns(statesAt + columns * COLUMN_STATE) && hasTemplates();
}

function layTemplates(piecesAt: usize): bool {
  const bytesAt = lengthsAt + 2 * templates;
  const columnsOfPieces = bytesAt + 2 * pieces;
  let text = columnsOfPieces + 2 * pieces;
  // Template 0 is a value of column 0 between empty literals.
  store<u32>(startsAt, u32(piecesAt));
  store<u64>(piecesAt, u64(text));
  store<u64>(piecesAt, u64(text) | (u64(NO_COLUMN) << 48), 8);
  let out = piecesAt + 16;
  let piece: usize = 0;
  for (let template: usize = 1; template <= templates; template++) {
    const own = usize(load<u16>(lengthsAt + ((template - 1) << 1)));
    if (own === 0 || piece + own > pieces) return false;
    store<u32>(startsAt + (template << 2), u32(out));
    for (let i: usize = 1; i <= own; i++) {
      const bytes = usize(load<u16>(bytesAt + (piece << 1)));
      const column = u32(load<u16>(columnsOfPieces + (piece << 1)));
      if (text + bytes > recordsAt || usize(column) >= columns) return false;
      store<u32>(out, u32(text));
      store<u16>(out, u16(bytes), 4);
      store<u16>(out, u16(i === own ? NO_COLUMN : column), 6);
      text += bytes;
      out += 8;
      piece++;
    }
  }
  return piece === pieces && text === recordsAt;
}

function layColumns(first: usize): bool {
  let room = first;
  let bytes = columnsAt;
  for (let column: usize = 0; column < columns; column++) {
    const record = recordsAt + column * COLUMN_RECORD;
    if (!layColumn(record, statesAt + column * COLUMN_STATE, bytes, room)) return false;
    room += usize(stateBytes(record));
    bytes += usize(load<u32>(record, RECORD_BYTES));
  }
  return true;
}

function hasTemplates(): bool {
  let most: u32 = 0;
  for (let row: usize = 0; row < rows; row++) most = max(most, templateOf(row));
  return usize(most) <= templates;
}

// @inline
function templateOf(row: usize): u32 {
  const low = u32(load<u8>(idsAt + row));
  return isWide ? low | (u32(load<u8>(idsAt + rows + row)) << 8) : low;
}

/** Returns eight digits of a number below 10^8, the highest digit in the lowest byte. */
// @inline
function eightDigits(value: u32): u64 {
  const high = value / 10_000;
  const fours = u64(high) | (u64(value - high * 10_000) << 32);
  const hundreds = ((fours * 10_486) >>> 20) & 0x0000007f0000007f;
  const twos = hundreds | ((fours - 100 * hundreds) << 16);
  const tens = ((twos * 103) >>> 10) & 0x000f000f000f000f;
  return (tens | ((twos - 10 * tens) << 8)) + 0x3030303030303030;
}

/** Returns sixteen digits of a number below 10^16. */
// @inline
function sixteenDigits(value: u64): v128 {
  // Most numbers are short, and a 64-bit division takes as long as the remaining code of this function.
  const high = value < 100_000_000 ? 0 : value / 100_000_000;
  const low = u32(value - high * 100_000_000);
  return i64x2.replace_lane(i64x2.splat(i64(eightDigits(u32(high)))), 1, i64(eightDigits(low)));
}

// @inline
function shuffleFrom(from: u32): v128 {
  return i8x16.add(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(u8(from)));
}

/** Writes a number and returns its bytes. Writes nothing if they do not fit. */
// @inline
function joinNumber(value: i64, behind: u32, out: usize, limit: usize): usize {
  const negative = usize(value < 0);
  const digits = sixteenDigits(u64(value < 0 ? -value : value));
  const shown = u32(i8x16.bitmask(i8x16.ne(digits, i8x16.splat(0x30)))) | (1 << (15 - behind));
  const first = u32(ctz(shown));
  const whole = usize(16 - first - behind);
  const bytes = negative + whole + (behind === 0 ? 0 : usize(behind) + 1);
  if (out + bytes > limit) return usize.MAX_VALUE;
  store<u8>(out, 0x2d);
  v128.store(out + negative, i8x16.swizzle(digits, shuffleFrom(first)));
  if (behind !== 0) {
    v128.store(out + negative + whole + 1, i8x16.swizzle(digits, shuffleFrom(16 - behind)));
    store<u8>(out + negative + whole, 0x2e);
  }
  return bytes;
}

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
    const digits = v128.load(digitsAt + usize(load<u32>(parts, 32)));
    v128.store(out + at, v128.or(i8x16.swizzle(digits, v128.load(parts, 16)), v128.load(parts)));
    parts += PART_BYTES;
  }
}

/** Copies, and may write up to 31 bytes more. Most values are shorter than 32 bytes, whatever their length. */
// @inline
function copyValue(to: usize, from: usize, bytes: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  for (let i: usize = 32; i < bytes; i += 16) v128.store(to + i, v128.load(from + i));
}

/** Writes value number `i` of a column to `out`. Returns its bytes, or more than fit up to `limit` if it does not fit. */
// @inline
function joinValue(state: usize, i: usize, out: usize, limit: usize): usize {
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
  const digits = usize(load<u32>(state, STATE_DIGITS));
  if (type === PATTERN) v128.store(digitsAt, sixteenDigits(u64(load<i64>(a + (i << 3)))));
  else {
    const step = (digits + 1) >>> 1;
    const isPure = digits === bytes;
    const to = isPure ? out : digitsAt;
    for (let at: usize = 0; at < step; at += 8) v128.store(to + 2 * at, hexDigits(a + i * step + at));
    if (isPure) return bytes;
  }
  joinParts(usize(load<u32>(state, STATE_B)), bytes, out);
  return bytes;
}

/**
 * Writes the lines of rows `nextRow` to `to`, each at its offset.
 * @param offsets Offsets of all rows and of the end, 4 bytes each, relative to `out`
 * @returns false if a line's length differs from its offsets, or if values are missing
 */
export function joinLines(to: u32, offsets: usize, out: usize): bool {
  for (let row = nextRow; row < usize(to); row++) {
    let piece = usize(load<u32>(startsAt + (usize(templateOf(row)) << 2)));
    let at = out + usize(load<u32>(offsets + (row << 2)));
    const limit = out + usize(load<u32>(offsets + (row << 2), 4));
    for (;;) {
      const column = u32(load<u16>(piece, 6));
      const literal = usize(load<u16>(piece, 4));
      if (at + literal > limit) return false;
      copyOver(at, usize(load<u32>(piece)), literal);
      at += literal;
      if (column === NO_COLUMN) break;
      const state = statesAt + usize(column) * COLUMN_STATE;
      const i = load<u32>(state, STATE_NEXT);
      if (i >= load<u32>(state, STATE_COUNT)) return false;
      store<u32>(state, i + 1, STATE_NEXT);
      const bytes = joinValue(state, usize(i), at, limit);
      if (bytes > limit - at) return false;
      at += bytes;
      piece += 8;
    }
    if (at !== limit) return false;
  }
  nextRow = usize(to);
  if (nextRow < rows) return true;
  for (let column: usize = 0; column < columns; column++) {
    const state = statesAt + column * COLUMN_STATE;
    if (load<u32>(state, STATE_NEXT) !== load<u32>(state, STATE_COUNT)) return false;
  }
  return true;
}
