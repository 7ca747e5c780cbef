/**
 * Finds the rows of a split page (split-read.ts) whose line may contain a text, without joining lines. No such row is missed. A
 * text in a line has its first byte in a literal or in a value, and one of these holds:
 *
 *     within     a literal or a value contains the whole text
 *     left       a literal ends with the first k bytes of the text; the value after it continues with the others
 *     right      a value ends with the first k bytes of the text; the literal after it continues with the others
 *
 * *Continues* means that it begins with these bytes, or that these bytes begin with it: what follows it is not looked at. Values with
 * decimal digits at fixed positions, and numbers, are not read: only the bytes that may occur in them count.
 */
import { PART_BYTES, STATE_A, STATE_B, STATE_COUNT, STATE_DETAIL, STATE_TYPE } from './column-read';
import { HEX, NUMBER, TEXT, WORDS } from './column-types';
import { HEX_ROOM, markHexValues } from './hex-search';
import { joinHex } from './join-lines';
import { RECORD_NUMBER } from './number-pack';
import { byteOf, find, isPart, NONE, otherOf, soughtBytes, splitsAfter, splitsBefore } from './sought-text';
import {
  columnsOfPage,
  firstPiece,
  NO_COLUMN,
  PIECE_BYTES,
  PIECE_COLUMN,
  PIECE_LENGTH,
  piecesAddress,
  piecesOfPage,
  recordAt,
  rowsOfPage,
  stateOf,
  templateOf,
  templatesOfPage,
} from './split-read';

/** Of each piece, two masks: bit k for a split of the text into its first k bytes and the others. */
let masksAt: usize = 0;
const MASKS_BYTES: usize = 24;
const RIGHT: usize = 8;
/** Address of the next piece of the template whose value decides, or 0. */
const NEXT_PIECE: usize = 16;
/** Memory for values of hexadecimal digits that are written out. */
let hexAt: usize = 0;
/** Of each column: address of a byte for each entry or text that contains the text, or 0; then the number of its next value. */
let valuesAt: usize = 0;
const VALUES_BYTES: usize = 8;
const NEXT: usize = 4;
/** Of each column: what its values have to do with the text. */
let kindsAt: usize = 0;
const NOTHING: u32 = 0;
const SOME_VALUES: u32 = 1;
const EVERY_VALUE: u32 = 2;
/** Of each template: address of its first piece whose value decides, or 0; then 1 if each of its rows may match. */
let templatesAt: usize = 0;
const TEMPLATE_BYTES: usize = 8;
const EVERY_ROW: usize = 4;

/** Returns the memory that `markRows` needs for the prepared page. */
export function searchBytes(): u32 {
  let bytes = HEX_ROOM + piecesOfPage() * MASKS_BYTES + columnsOfPage() * (VALUES_BYTES + 1);
  bytes += (templatesOfPage() + 1) * TEMPLATE_BYTES;
  for (let column: usize = 0; column < columnsOfPage(); column++) bytes += entriesOf(column);
  return u32(bytes);
}

/** Type as which a column is read. */
// @inline
function typeOf(column: usize): u32 {
  return load<u32>(stateOf(u32(column)), STATE_TYPE);
}

/** Number of entries of a column, or of values that are texts or have hexadecimal digits. */
function entriesOf(column: usize): usize {
  const type = typeOf(column);
  if (type === WORDS) return usize(load<u32>(recordAt(column), RECORD_NUMBER));
  return type === TEXT || type === HEX ? usize(load<u32>(stateOf(u32(column)), STATE_COUNT)) : 0;
}

/**
 * Sets the byte of each row whose line may contain the text (sought-text.ts), before any row is joined.
 * @param wanted Address of a byte for each row
 * @param room Memory of `searchBytes`, a multiple of 8
 */
export function markRows(wanted: usize, room: usize): void {
  hexAt = room;
  masksAt = hexAt + HEX_ROOM;
  valuesAt = masksAt + piecesOfPage() * MASKS_BYTES;
  templatesAt = valuesAt + columnsOfPage() * VALUES_BYTES;
  kindsAt = templatesAt + (templatesOfPage() + 1) * TEMPLATE_BYTES;
  findInColumns(kindsAt + columnsOfPage());
  maskPieces();
  for (let template: u32 = 0; template <= u32(templatesOfPage()); template++) readTemplate(template);
  for (let row: usize = 0; row < rowsOfPage(); row++) {
    const template = templatesAt + usize(templateOf(row)) * TEMPLATE_BYTES;
    if (load<u32>(template, EVERY_ROW) !== 0) store<u8>(wanted + row, 1);
    const piece = usize(load<u32>(template));
    if (piece !== 0 && hasValue(piece)) store<u8>(wanted + row, 1);
  }
}

/** Whether the values of a column are read. */
// @inline
function hasEntries(column: u32): bool {
  const type = typeOf(usize(column));
  return type === WORDS || type === TEXT || type === HEX;
}

function findInColumns(room: usize): void {
  let marks = room;
  for (let column: usize = 0; column < columnsOfPage(); column++) {
    const type = typeOf(column);
    const values = valuesAt + column * VALUES_BYTES;
    store<u64>(values, 0);
    let kind = NOTHING;
    if (!hasEntries(u32(column))) kind = mayHoldText(column) ? EVERY_VALUE : NOTHING;
    else if (type === HEX ? findInHex(column, marks) : findInEntries(column, type, marks)) {
      store<u32>(values, u32(marks));
      marks += entriesOf(column);
      kind = SOME_VALUES;
    }
    store<u8>(kindsAt + column, u8(kind));
  }
}

/** Marks the values that contain the text. Returns whether any does. */
function findInHex(column: usize, marks: usize): bool {
  return mayHoldText(column) && markHexValues(stateOf(u32(column)), marks, hexAt);
}

/** Marks the entries or texts that contain the text. Returns whether any does. */
function findInEntries(column: usize, type: u32, marks: usize): bool {
  const count = entriesOf(column);
  if (count === 0) return false;
  const state = stateOf(u32(column));
  const start = startOf(state, type, 0);
  const last = count - 1;
  const end = startOf(state, type, last) + bytesOf(state, type, last);
  let hit = find(start, end);
  if (hit === NONE) return false;
  memory.fill(marks, 0, count);
  let isAny = false;
  let i: usize = 0;
  while (hit !== NONE) {
    while (startOf(state, type, i) + bytesOf(state, type, i) <= hit) i++;
    // A hit that continues in the next value counts for none.
    const valueEnd = startOf(state, type, i) + bytesOf(state, type, i);
    const isInside = hit + soughtBytes() <= valueEnd;
    if (isInside) store<u8>(marks + i, 1);
    isAny = isAny || isInside;
    hit = find(isInside ? valueEnd : hit + 1, end);
  }
  return isAny;
}

// @inline
function startOf(state: usize, type: u32, i: usize): usize {
  if (type === WORDS) return usize(load<u32>(usize(load<u32>(state, STATE_B)) + (i << 3)));
  return usize(load<u32>(usize(load<u32>(state, STATE_A)) + (i << 2)));
}

// @inline
function bytesOf(state: usize, type: u32, i: usize): usize {
  if (type === WORDS) return usize(load<u32>(usize(load<u32>(state, STATE_B)) + (i << 3), 4));
  const at = usize(load<u32>(state, STATE_A)) + (i << 2);
  return usize(load<u32>(at, 4) - load<u32>(at));
}

function mayHoldText(column: usize): bool {
  for (let i: usize = 0; i < soughtBytes(); i++) if (!mayHoldByte(column, i)) return false;
  return true;
}

/** Returns whether a value that is not a text may have byte number `i` of the text. */
function mayHoldByte(column: usize, i: usize): bool {
  return mayHold(column, byteOf(i)) || mayHold(column, otherOf(i));
}

function mayHold(column: usize, byte: u32): bool {
  if (byte - 0x30 < 10) return true;
  const type = typeOf(column);
  if (type === NUMBER) return byte === 0x2d || byte === 0x2e;
  if (type === HEX && byte - 0x61 < 6) return true;
  const state = stateOf(u32(column));
  const bytes = usize(load<u32>(state, STATE_DETAIL));
  const parts = usize(load<u32>(state, STATE_B));
  for (let i: usize = 0; i < bytes; i++) {
    if (u32(load<u8>(parts + (i >>> 4) * PART_BYTES + (i & 15))) === byte) return true;
  }
  return false;
}

/** Finds the splits of the text at both ends of each value, and the columns whose values decide. */
function maskPieces(): void {
  const end = piecesAddress() + piecesOfPage() * PIECE_BYTES;
  let masks = masksAt;
  for (let piece = piecesAddress(); piece < end; piece += PIECE_BYTES) {
    const column = u32(load<u16>(piece, PIECE_COLUMN));
    let left: u64 = 0;
    let right: u64 = 0;
    if (column !== NO_COLUMN) {
      left = splitsBefore(literalOf(piece), bytesOfLiteral(piece));
      right = splitsAfter(literalOf(piece + PIECE_BYTES), bytesOfLiteral(piece + PIECE_BYTES));
      const kind = kindsAt + usize(column);
      if ((left | right) !== 0 && load<u8>(kind) === NOTHING) store<u8>(kind, SOME_VALUES);
    }
    store<u64>(masks, left);
    store<u64>(masks, right, RIGHT);
    masks += MASKS_BYTES;
  }
}

// @inline
function literalOf(piece: usize): usize {
  return usize(load<u32>(piece));
}

// @inline
function bytesOfLiteral(piece: usize): usize {
  return usize(load<u16>(piece, PIECE_LENGTH));
}

// @inline
function masksOf(piece: usize): usize {
  return masksAt + ((piece - piecesAddress()) / PIECE_BYTES) * MASKS_BYTES;
}

/** Finds out whether each row of a template may match, and which of its values decide. */
function readTemplate(number: u32): void {
  const template = templatesAt + usize(number) * TEMPLATE_BYTES;
  let link = template;
  let isEvery: u32 = 0;
  let piece = firstPiece(number);
  while (true) {
    if (find(literalOf(piece), literalOf(piece) + bytesOfLiteral(piece)) !== NONE) isEvery = 1;
    const column = u32(load<u16>(piece, PIECE_COLUMN));
    if (column === NO_COLUMN) break;
    const kind = u32(load<u8>(kindsAt + usize(column)));
    if (kind !== NOTHING && hasEntries(column)) {
      store<u32>(link, u32(piece));
      link = masksOf(piece) + NEXT_PIECE;
    } else if (kind === EVERY_VALUE || (kind !== NOTHING && mayContinue(piece, usize(column)))) isEvery = 1;
    piece += PIECE_BYTES;
  }
  store<u32>(link, 0);
  store<u32>(template, isEvery, EVERY_ROW);
}

/** Returns whether the text may begin or end in a value that is not read. */
function mayContinue(piece: usize, column: usize): bool {
  const left = load<u64>(masksOf(piece));
  const right = load<u64>(masksOf(piece), RIGHT);
  for (let k: usize = 1; k < soughtBytes(); k++) {
    if (((left >>> k) & 1) !== 0 && mayHoldByte(column, k)) return true;
    if (((right >>> k) & 1) !== 0 && mayHoldByte(column, k - 1)) return true;
  }
  return false;
}

/** Reads the next values of a row. Returns whether one of them may have the text, or a part of it next to a literal. */
function hasValue(first: usize): bool {
  let isFound = false;
  for (let piece = first; piece !== 0; piece = usize(load<u32>(masksOf(piece), NEXT_PIECE))) {
    const column = u32(load<u16>(piece, PIECE_COLUMN));
    const values = valuesAt + usize(column) * VALUES_BYTES;
    const next = load<u32>(values, NEXT);
    store<u32>(values, next + 1, NEXT);
    const isThere = next < load<u32>(stateOf(column), STATE_COUNT);
    if (!isFound && isThere && isMatch(piece, column, usize(next))) isFound = true;
  }
  return isFound;
}

/** Whether value number `next` of a column, behind a literal, may have the text or a part of it. */
function isMatch(piece: usize, column: u32, next: usize): bool {
  const state = stateOf(column);
  const type = typeOf(usize(column));
  let i = next;
  if (type === WORDS) {
    const indexes = usize(load<u32>(state, STATE_A));
    i = indexes === 0 ? 0 : usize(load<u8>(indexes + i));
  }
  const marks = usize(load<u32>(valuesAt + usize(column) * VALUES_BYTES));
  if (marks !== 0 && load<u8>(marks + i) !== 0) return true;
  if (type === HEX) {
    joinHex(state, i, hexAt);
    return continues(masksOf(piece), hexAt, usize(load<u32>(state, STATE_DETAIL)));
  }
  return continues(masksOf(piece), startOf(state, type, i), bytesOf(state, type, i));
}

/** Returns whether a value continues with the text behind the literal before it, or ends with its start. */
function continues(masks: usize, value: usize, bytes: usize): bool {
  for (let left = load<u64>(masks); left !== 0; left &= left - 1) {
    const k = usize(ctz(left));
    if (isPart(value, k, min(bytes, soughtBytes() - k))) return true;
  }
  for (let right = load<u64>(masks, RIGHT); right !== 0; right &= right - 1) {
    const k = usize(ctz(right));
    if (k <= bytes && isPart(value + bytes - k, 0, k)) return true;
  }
  return false;
}
