/**
 * Reads a split page (split-lines.ts) for a join (join-lines.ts) and for searches (split-search.ts). The host writes the
 * page, the frame and then the columns. `openSplit` returns the memory that reading needs, and `laySplit` receives it.
 *
 * The input belongs to a stored page and may be corrupt. Everything on which a reader relies is checked here or in
 * column-read.ts.
 */

import { COLUMN_STATE, layColumn, stateBytes } from './column-read';
import { RECORD_BYTES, RECORD_COUNT } from './number-pack';
import { setTimes } from './row-clock';
import { COLUMN_RECORD, FRAME_HEAD, MAX_COLUMNS, MAX_PIECES, MAX_SPANS, MAX_TEMPLATES } from './split-layout';

/** Size of the area before a page: digits of the current value, and padding for copies. */
export const DIGITS_BYTES: usize = 128;
/** Column of the last piece of a template, which has no value. */
export const NO_COLUMN: u32 = 0xffff;
/** A piece: address of its literal, then the literal's bytes (2) and the column of the value after it (2). */
export const PIECE_BYTES: usize = 8;
export const PIECE_LENGTH: usize = 4;
export const PIECE_COLUMN: usize = 6;

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
/** Address of the first piece of each template. */
let startsAt: usize = 0;
let statesAt: usize = 0;

// @inline
export function digitsAddress(): usize {
  return digitsAt;
}

// @inline
export function rowsOfPage(): usize {
  return rows;
}

/** Number of templates, without template 0. */
// @inline
export function templatesOfPage(): usize {
  return templates;
}

// @inline
export function columnsOfPage(): usize {
  return columns;
}

/** Address of the pieces of all templates: those of a template follow those of the one before. */
// @inline
export function piecesAddress(): usize {
  return startsAt + 8 * (templates + 1);
}

/** Number of pieces, with the two of template 0. */
// @inline
export function piecesOfPage(): usize {
  return pieces + 2;
}

/** Address of the first piece of a template. */
// @inline
export function firstPiece(template: u32): usize {
  return usize(load<u32>(startsAt + (usize(template) << 2)));
}

// @inline
export function stateOf(column: u32): usize {
  return statesAt + usize(column) * COLUMN_STATE;
}

// @inline
export function recordAt(column: usize): usize {
  return recordsAt + column * COLUMN_RECORD;
}

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
    const record = recordAt(column);
    const bytes = stateBytes(record);
    if (bytes < 0) return 0;
    room += bytes;
    total += u64(load<u32>(record, RECORD_BYTES));
    values += u64(load<u32>(record, RECORD_COUNT));
    if (values > MAX_SPANS) return 0;
  }
  return total === u64(end - columnsAt) && room <= i64(i32.MAX_VALUE) ? u32(room) : 0;
}

/**
 * Prepares the opened page, in the memory that `openSplit` requested. Returns false if its bytes are invalid.
 * @param times Address of the times of the rows (row-clock.ts), or 0
 * @param base Time of day to which they are relative, ns
 */
export function laySplit(room: usize, times: usize, base: f64): bool {
  setTimes(times, base);
  startsAt = room;
  const piecesAt = startsAt + 8 * (templates + 1);
  statesAt = piecesAt + 8 * (pieces + 2);
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
    const record = recordAt(column);
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
export function templateOf(row: usize): u32 {
  const low = u32(load<u8>(idsAt + row));
  return isWide ? low | (u32(load<u8>(idsAt + rows + row)) << 8) : low;
}
