/**
 * Cells of one field in the lines of a page, for its column: a code for each row, and the values or numbers. The members are those that
 * field-members.ts has found; the lines are at FIELD_LINES. The codes and the choice between values and numbers are those of
 * shared/storage/columns/column-cells.ts.
 */
import { BROKEN, cellValueCount, clearValues, FULL, findValue, valueStart } from './cell-values';
import {
  CELL_CODES,
  CELL_NUMBERS,
  CELL_PARSERS,
  CELL_TEXT,
  FIELD_LINES,
  MEMBER_ENDS,
  MEMBER_KINDS,
  MEMBER_ORDER,
  MEMBER_ROWS,
  MEMBER_STARTS,
  OTHER_ENDS,
  OTHER_TEXTS,
} from './field-layout';
import { ESCAPED, NOTHING, STRUCTURE, VALUE } from './member-list';
import { clearShapes, lastDigits, NO_SHAPE, readShape } from './number-shapes';
import { isCleanUtf8 } from './utf8';

// Codes as in shared/storage/columns/column-cells.ts.
const ABSENT: u32 = 0;
const FALLBACK: u32 = 1;
const FIRST_VALUE: u32 = 2;
const TEXT: u32 = 2;
const FIRST_SHAPE: u32 = 3;

/** Results of `fieldCells`. */
export const NO_CELLS: u32 = 0;
export const VALUE_CELLS: u32 = 1;
export const NUMBER_CELLS: u32 = 2;

/**
 * Maximum bytes of a value; a longer value stays in its line. Values used for grouping or comparison are
 * short.
 */
const MAX_VALUE_BYTES: usize = 128;
/** Number of values above which numbers are tried first: they are then shorter than a dictionary. */
const MANY_VALUES: u32 = 256;
/** After this many cells, values that nearly all differ are abandoned. */
const TRIAL_CELLS: u32 = 256;
const TRIAL_VALUES: u32 = 192;
/** Maximum share of texts between numbers: one in this many. */
const RARE: u32 = 16;

/** Writes the text of an escaped value at CELL_TEXT. Returns its bytes, or -1 if it is not valid. */
// @external("env", "unescapeValue")
declare function unescapeValue(list: usize, start: usize, length: usize): i32;

/** Text of the latest member: its address and bytes. */
let textAt: usize = 0;
let textBytes: usize = 0;

/** Finds the text of a member. Returns false if it has none that a column may hold. */
// @inline
function hasText(list: usize, at: usize, kind: u32, firstByte: u32): bool {
  const start = load<u32>(list + (at << 2), MEMBER_STARTS);
  textAt = FIELD_LINES + usize(start - firstByte);
  textBytes = usize(load<u32>(list + (at << 2), MEMBER_ENDS) - start);
  if (textBytes > MAX_VALUE_BYTES) return false;
  if (kind !== ESCAPED) return true;
  const bytes = unescapeValue(list, textAt, textBytes);
  textAt = CELL_TEXT;
  textBytes = usize(bytes);
  return bytes >= 0;
}

// @inline
function memberAt(list: usize, i: u32): usize {
  return usize(load<u32>(list + (usize(i) << 2), MEMBER_ORDER));
}

// @inline
function rowOf(list: usize, at: usize): u32 {
  return load<u32>(list + (at << 2), MEMBER_ROWS);
}

// @inline
function setCode(row: u32, code: u32): void {
  store<u32>(CELL_CODES + (usize(row) << 2), code);
}

/**
 * Computes the cells of a key from its members, which are `from` to `to` in the order by keys.
 * @param parser parser of the key: rows of others are left to the parser
 * @param firstByte position of the lines in their page
 */
export function fieldCells(list: usize, from: u32, to: u32, parser: u32, rows: u32, firstByte: u32): u32 {
  for (let row: u32 = 0; row < rows; row++) {
    setCode(row, u32(load<u8>(CELL_PARSERS + usize(row))) === parser ? ABSENT : FALLBACK);
  }
  if (numberTexts(list, from, to, firstByte)) return VALUE_CELLS;
  memory.fill(CELL_NUMBERS, 0, usize(rows) << 3);
  return readNumbers(list, from, to, firstByte) ? NUMBER_CELLS : NO_CELLS;
}

/** Numbers the values. Returns false if there are too many, or many numbers; some codes are then set. */
function numberTexts(list: usize, from: u32, to: u32, firstByte: u32): bool {
  clearValues();
  let last: u32 = 0xffffffff;
  let cells: u32 = 0;
  for (let i = from; i < to; i++) {
    const at = memberAt(list, i);
    const row = rowOf(list, at);
    const kind = u32(load<u8>(list + at, MEMBER_KINDS));
    if (row === last || kind === STRUCTURE) {
      setCode(row, FALLBACK);
      last = row;
      continue;
    }
    last = row;
    if (kind === NOTHING) continue;
    const value = hasText(list, at, kind, firstByte) ? findValue(textAt, textBytes) : BROKEN;
    if (value === FULL) return false;
    setCode(row, value === BROKEN ? FALLBACK : FIRST_VALUE + value);
    if (++cells === TRIAL_CELLS && cellValueCount() > TRIAL_VALUES) return false;
  }
  return cellValueCount() <= MANY_VALUES || !areNumbers();
}

/** Returns whether nearly all values are numbers. */
function areNumbers(): bool {
  const count = cellValueCount();
  clearShapes();
  let texts: u32 = 0;
  for (let value: u32 = 0; value < count; value++) {
    const start = valueStart(value);
    if (readShape(start, valueStart(value + 1) - start) === NO_SHAPE) texts++;
  }
  return texts * RARE <= count;
}

let otherTexts: u32 = 0;

/** Number of texts between the numbers. */
export function otherTextCount(): u32 {
  return otherTexts;
}

/** Reads the values as numbers. Returns false if too many are not. */
function readNumbers(list: usize, from: u32, to: u32, firstByte: u32): bool {
  clearShapes();
  otherTexts = 0;
  let end = OTHER_TEXTS;
  let last: u32 = 0xffffffff;
  let cells: u32 = 0;
  for (let i = from; i < to; i++) {
    const at = memberAt(list, i);
    const row = rowOf(list, at);
    const kind = u32(load<u8>(list + at, MEMBER_KINDS));
    if (row === last || kind === STRUCTURE) {
      setCode(row, FALLBACK);
      last = row;
      continue;
    }
    last = row;
    if (kind === NOTHING) continue;
    cells++;
    const isShort = hasText(list, at, kind, firstByte);
    const shape = isShort && kind !== ESCAPED ? readShape(textAt, textBytes) : NO_SHAPE;
    const number = CELL_NUMBERS + (usize(row) << 3);
    if (shape !== NO_SHAPE) {
      setCode(row, FIRST_SHAPE + shape);
      store<f64>(number, lastDigits());
    } else if (isShort && isCleanUtf8(textAt, textBytes)) {
      setCode(row, TEXT);
      store<f64>(number, f64(otherTexts));
      memory.copy(end, textAt, textBytes);
      end += textBytes;
      store<u32>(OTHER_ENDS + (usize(otherTexts) << 2), u32(end - OTHER_TEXTS));
      otherTexts++;
    } else setCode(row, FALLBACK);
    if (otherTexts * RARE > cells + TRIAL_CELLS) return false;
  }
  return otherTexts * RARE <= cells;
}

/** Leaves the rows of members to the parser, because their key has the name of another one. */
export function leaveRows(list: usize, from: u32, to: u32): void {
  for (let i = from; i < to; i++) setCode(rowOf(list, memberAt(list, i)), FALLBACK);
}

/** Rows that are left to the parser. */
export function fallbackRows(rows: u32): u32 {
  let count: u32 = 0;
  for (let row: usize = 0; row < usize(rows); row++) {
    count += u32(load<u32>(CELL_CODES + (row << 2)) === FALLBACK);
  }
  return count;
}

/**
 * Returns whether the members have more distinct values than a dictionary holds. Values with escapes, and long
 * ones, do not count.
 */
export function hasManyValues(list: usize, from: u32, to: u32, firstByte: u32): bool {
  clearValues();
  for (let i = from; i < to; i++) {
    const at = memberAt(list, i);
    if (u32(load<u8>(list + at, MEMBER_KINDS)) !== VALUE || !hasText(list, at, VALUE, firstByte)) continue;
    if (findValue(textAt, textBytes) === FULL) return true;
  }
  return false;
}
