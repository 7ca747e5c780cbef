/**
 * Prepares the columns of a split page for reading (column-pack.ts describes their bytes). A column's state
 * refers to its values:
 *
 *     text      STATE_A: addresses of the values and of the end, 4 bytes each
 *     words     STATE_A: indexes, or 0 if there is one entry; STATE_B: address and bytes of each entry
 *     number    STATE_A: numbers of 8 bytes
 *     pattern   as number; STATE_B: 48 bytes for each 16 bytes of a value: constant bytes, digit indexes, first digit
 *     hex       STATE_A: the stored bytes; STATE_B: as in a pattern
 *     clock     STATE_A: difference from UTC, 8 bytes; STATE_B: as in a pattern, with digits of the clock
 *
 * The input belongs to a stored page and may be corrupt in any way. This module checks everything on which a
 * join relies.
 */
import { CLOCK, HEX, NUMBER, NUMBERED, PATTERN, TEXT, WORDS } from './column-types';
import { indexBytes, unpackIndexes } from './index-bits';
import {
  DELTA,
  RECORD_BASE,
  RECORD_BYTES,
  RECORD_COUNT,
  RECORD_DETAIL,
  RECORD_MODE,
  RECORD_NUMBER,
  RECORD_WIDTH,
} from './number-pack';
import { layNumbered, numberedBytes } from './numbered-read';
import { CLOCK_DIGITS, hasTimes, isShift } from './row-clock';
import { MAX_ENTRIES, MAX_PATTERN } from './split-layout';

export const STATE_TYPE: usize = 0;
export const STATE_NEXT: usize = 4;
export const STATE_COUNT: usize = 8;
export const STATE_A: usize = 12;
export const STATE_B: usize = 16;
/** Offset of the type detail: decimals, bytes of a value, or unused. */
export const STATE_DETAIL: usize = 20;
/** Offset of the number of digits in a value with a pattern. */
export const STATE_DIGITS: usize = 24;
export const COLUMN_STATE: usize = 32;

export const PART_BYTES: usize = 48;
const MAX_DIGITS: u32 = 16;
const MAX_DECIMALS: u32 = 9;
const TEN_16: i64 = 10_000_000_000_000_000;

// @inline
function align(bytes: usize): usize {
  return (bytes + 7) & ~7;
}

/**
 * Returns the memory that the state of a column needs in addition, a multiple of 8, or -1 if the record is
 * invalid.
 */
export function stateBytes(record: usize): i64 {
  const type = u32(load<u8>(record));
  const detail = u32(load<u8>(record, RECORD_DETAIL));
  const count = u64(load<u32>(record, RECORD_COUNT));
  const bytes = u64(load<u32>(record, RECORD_BYTES));
  const width = u64(load<u8>(record, RECORD_WIDTH));
  const number = u64(load<u32>(record, RECORD_NUMBER));
  if (count === 0) return bytes === 0 && type === TEXT ? 8 : -1;
  if (width > 8) return -1;
  const pattern = u64(2 * detail);
  if (type === TEXT) return width <= 4 && width * count <= bytes ? i64(align(4 * usize(count + 1))) : -1;
  if (type === WORDS) {
    const bits = u32(width);
    if (bits !== 0 && bits !== 1 && bits !== 2 && bits !== 4) return -1;
    const least = 2 * number + (number > 1 ? indexBytes(count, bits) : 0);
    if (number < 1 || number > min(count, u64(MAX_ENTRIES)) || least > bytes) return -1;
    return i64(8 * number + (bits === 0 ? 0 : (count + 15) & ~7));
  }
  if (type === NUMBER) return detail <= MAX_DECIMALS && width * count === bytes ? i64(8 * count) : -1;
  if (type === NUMBERED) return numberedBytes(record, bytes);
  if (detail === 0 || detail > u32(MAX_PATTERN)) return -1;
  const parts = i64(PART_BYTES) * i64((detail + 15) >>> 4);
  if (type === PATTERN) return pattern + width * count === bytes ? parts + i64(8 * count) : -1;
  if (type === HEX) return pattern + ((number + 1) >>> 1) * count === bytes ? parts : -1;
  if (type === CLOCK) return pattern === bytes ? parts + 8 : -1;
  return -1;
}

/** Prepares a column whose record `stateBytes` accepted. Returns false if its bytes are invalid. */
export function layColumn(record: usize, state: usize, bytes: usize, room: usize): bool {
  const type = u32(load<u8>(record));
  const detail = usize(load<u8>(record, RECORD_DETAIL));
  const count = usize(load<u32>(record, RECORD_COUNT));
  const end = bytes + usize(load<u32>(record, RECORD_BYTES));
  store<u32>(state, type, STATE_TYPE);
  store<u32>(state, 0, STATE_NEXT);
  store<u32>(state, u32(count), STATE_COUNT);
  store<u32>(state, u32(room), STATE_A);
  store<u32>(state, u32(detail), STATE_DETAIL);
  if (type === TEXT) return layText(record, count, bytes, end, room);
  if (type === NUMBERED) {
    store<u32>(state, TEXT, STATE_TYPE);
    return layNumbered(record, bytes, end, room);
  }
  if (type === WORDS) return layWords(record, state, count, bytes, end, room);
  if (type === NUMBER) return layNumbers(record, count, bytes, room);
  if (type === CLOCK) {
    const shift = load<u64>(record, RECORD_BASE);
    store<u64>(room, shift);
    store<u32>(state, u32(room + 8), STATE_B);
    return hasTimes() && isShift(shift) && layClockParts(bytes, detail, room + 8);
  }
  const isHex = type === HEX;
  const parts = PART_BYTES * ((detail + 15) >>> 4);
  const digits = layParts(bytes, detail, isHex, room);
  store<u32>(state, u32(room), STATE_B);
  store<u32>(state, digits, STATE_DIGITS);
  if (isHex) {
    store<u32>(state, u32(bytes + 2 * detail), STATE_A);
    return digits === load<u32>(record, RECORD_NUMBER);
  }
  store<u32>(state, u32(room + parts), STATE_A);
  return digits > 0 && digits <= MAX_DIGITS && layNumbers(record, count, bytes + 2 * detail, room + parts);
}

function layText(record: usize, count: usize, bytes: usize, end: usize, room: usize): bool {
  const width = usize(load<u8>(record, RECORD_WIDTH));
  const base = load<i64>(record, RECORD_BASE);
  // Sums cannot overflow: each length is at most the size of the block.
  if (base < 0 || base > i64(end - bytes)) return false;
  let at = u64(bytes + width * count);
  for (let i: usize = 0; i < count; i++) {
    store<u32>(room + (i << 2), u32(at));
    let length: u32 = 0;
    for (let plane: usize = 0; plane < width; plane++) {
      length |= u32(load<u8>(bytes + plane * count + i)) << (u32(plane) << 3);
    }
    at += u64(length) + u64(base);
    if (at > u64(end)) return false;
  }
  store<u32>(room + (count << 2), u32(at));
  return at === u64(end);
}

function layWords(record: usize, state: usize, count: usize, bytes: usize, end: usize, room: usize): bool {
  const entries = usize(load<u32>(record, RECORD_NUMBER));
  const bits = u32(load<u8>(record, RECORD_WIDTH));
  let at = bytes + (entries << 1);
  for (let i: usize = 0; i < entries; i++) {
    const length = usize(load<u16>(bytes + (i << 1)));
    store<u32>(room + (i << 3), u32(at));
    store<u32>(room + (i << 3), u32(length), 4);
    at += length;
  }
  store<u32>(state, u32(room), STATE_B);
  if (entries === 1) {
    store<u32>(state, 0, STATE_A);
    return at === end;
  }
  if (at + usize(indexBytes(u64(count), bits)) !== end) return false;
  if (bits !== 0) {
    const indexes = room + (entries << 3);
    unpackIndexes(at, count, bits, indexes);
    at = indexes;
  }
  store<u32>(state, u32(at), STATE_A);
  let most: u32 = 0;
  for (let i: usize = 0; i < count; i++) most = max(most, u32(load<u8>(at + i)));
  return most < u32(entries);
}

function layNumbers(record: usize, count: usize, bytes: usize, room: usize): bool {
  const width = usize(load<u8>(record, RECORD_WIDTH));
  const isDelta = u32(load<u8>(record, RECORD_MODE)) === DELTA;
  const base = load<i64>(record, RECORD_BASE);
  let last = base;
  let isSound = true;
  for (let i: usize = 0; i < count; i++) {
    let rest: u64 = 0;
    let at = bytes + i;
    for (let plane: usize = 0; plane < width; plane++) {
      rest |= u64(load<u8>(at)) << (u64(plane) << 3);
      at += count;
    }
    if (isDelta) last += i64(rest >>> 1) ^ -i64(rest & 1);
    else last = base + i64(rest);
    if (last <= -TEN_16 || last >= TEN_16) isSound = false;
    store<i64>(room + (i << 3), last);
  }
  return isSound;
}

/** Writes the parts of a value with digits of a clock. Returns false if there is no such digit. */
function layClockParts(pattern: usize, bytes: usize, room: usize): bool {
  for (let part: usize = 0; part < bytes; part += 16) {
    for (let i: usize = 0; i < 16; i++) {
      const offset = part + i;
      const digit = offset < bytes ? u32(load<u8>(pattern + bytes + offset)) : 0;
      if (digit > CLOCK_DIGITS) return false;
      const isConstant = offset < bytes && digit === 0;
      store<u8>(room + i, isConstant ? load<u8>(pattern + offset) : 0);
      store<u8>(room + 16 + i, digit === 0 ? 0x80 : u8(digit));
    }
    store<u32>(room, 0, 32);
    room += PART_BYTES;
  }
  return true;
}

/**
 * Writes the parts of a value: constant bytes and digit indexes. Returns its number of digits, or more than
 * MAX_PATTERN if the bytes are invalid.
 */
function layParts(pattern: usize, bytes: usize, isHex: bool, room: usize): u32 {
  let digits: u32 = 0;
  for (let i: usize = 0; i < bytes; i++) digits += u32(load<u8>(pattern + bytes + i) !== 0);
  // A number uses the last of 16 digits.
  let digit = isHex ? 0 : MAX_DIGITS - min(digits, MAX_DIGITS);
  for (let part: usize = 0; part < bytes; part += 16) {
    const first = digit;
    for (let i: usize = 0; i < 16; i++) {
      const offset = part + i;
      const isChanging = offset < bytes && load<u8>(pattern + bytes + offset) !== 0;
      store<u8>(room + i, isChanging || offset >= bytes ? 0 : load<u8>(pattern + offset));
      store<u8>(room + 16 + i, isChanging ? u8(digit - first) : 0x80);
      if (isChanging) digit++;
    }
    store<u32>(room, first, 32);
    room += PART_BYTES;
  }
  return digits;
}
