/**
 * Encodes a column in the first type that fits all of its values:
 *
 *     words     up to 256 values that repeat: a dictionary, and an index of up to one byte for each value
 *     number    -12, 0.035: the same number of decimals in all values, and text that a number restores exactly
 *     clock     values that show the time of their rows (clock-pack.ts)
 *     pattern   values of one length with the same constant bytes and up to 16 digits: times, counters
 *     hex       the same with hexadecimal digits: IDs
 *     numbered  texts that differ in a number: what is around it, and the numbers (numbered-pack.ts)
 *     text      lengths, and the bytes
 */
import { NUMBER, TEXT, WORDS } from './column-types';
import { bitsOfIndex, indexBytes, packIndexes } from './index-bits';
import {
  DIRECT,
  packNumbers,
  RECORD_BASE,
  RECORD_BYTES,
  RECORD_COUNT,
  RECORD_DETAIL,
  RECORD_MODE,
  RECORD_NUMBER,
  RECORD_TYPE,
  RECORD_WIDTH,
  recordOf,
} from './number-pack';
import { packNumbered } from './numbered-pack';
import { packPattern } from './pattern-pack';
import {
  copyOver,
  ENTRIES,
  ENTRY_SLOTS,
  ENTRY_SLOTS_COUNT,
  MAX_ENTRIES,
  MAX_ENTRY_BYTES,
  NUMBERS,
} from './split-layout';
import { isDigit } from './text-bytes';
import { bytesOf, startOf } from './value-spans';

const MAX_NUMBER_DIGITS: u32 = 15;
const MAX_DECIMALS: u32 = 9;
const FACTOR: u64 = 0x9e3779b97f4a7c15;

/** Writes `count` values of the given spans, and the record of the column. Returns the end of the output. */
export function packColumn(column: usize, spans: usize, count: usize, out: usize): usize {
  const record = recordOf(column);
  memory.fill(record, 0, RECORD_BASE + 8);
  store<u32>(record, u32(count), RECORD_COUNT);
  if (count === 0) return out;
  let end = packWords(record, spans, count, out);
  if (end === 0) end = packDecimals(record, spans, count, out);
  if (end === 0) end = packPattern(record, spans, count, out);
  if (end === 0) end = packNumbered(record, spans, count, out);
  if (end === 0) end = packText(record, spans, count, out);
  store<u32>(record, u32(end - out), RECORD_BYTES);
  return end;
}

// @inline
function hashOf(at: usize, bytes: usize): u32 {
  let mixed = u64(bytes) * FACTOR;
  let i: usize = 0;
  for (; i + 8 <= bytes; i += 8) {
    mixed = (mixed ^ load<u64>(at + i)) * FACTOR;
    mixed ^= mixed >>> 32;
  }
  if (i < bytes) {
    const rest = load<u64>(at + i) & ((u64(1) << (u64(bytes - i) << 3)) - 1);
    mixed = (mixed ^ rest) * FACTOR;
  }
  return u32(mixed >>> 40);
}

// @inline
function isSame(a: usize, b: usize, bytes: usize): bool {
  let i: usize = 0;
  for (; i + 8 <= bytes; i += 8) if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  if (i === bytes) return true;
  return (load<u64>(a + i) ^ load<u64>(b + i)) << ((8 - u64(bytes - i)) << 3) === 0;
}

/**
 * Encodes a dictionary. Returns 0 if there are too many values, or long ones. The indexes are at NUMBERS
 * until the dictionary is complete.
 */
function packWords(record: usize, spans: usize, count: usize, out: usize): usize {
  const most = min(MAX_ENTRIES, count >>> 1);
  if (most === 0) return 0;
  memory.fill(ENTRY_SLOTS, 0, 2 * ENTRY_SLOTS_COUNT);
  let entries: usize = 0;
  let last: usize = 0;
  let lastBytes = usize.MAX_VALUE;
  let lastIndex: u32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const at = startOf(spans, i);
    const bytes = bytesOf(spans, i);
    if (bytes !== lastBytes || !isSame(at, last, bytes)) {
      if (bytes > MAX_ENTRY_BYTES) return 0;
      let slot = usize(hashOf(at, bytes)) & (ENTRY_SLOTS_COUNT - 1);
      for (;;) {
        const known = usize(load<u16>(ENTRY_SLOTS + (slot << 1)));
        if (known === 0) {
          if (entries === most) return 0;
          store<u64>(ENTRIES + (entries << 3), load<u64>(spans + (i << 3)));
          store<u16>(ENTRY_SLOTS + (slot << 1), u16(++entries));
          lastIndex = u32(entries) - 1;
          break;
        }
        if (bytesOf(ENTRIES, known - 1) === bytes && isSame(startOf(ENTRIES, known - 1), at, bytes)) {
          lastIndex = u32(known) - 1;
          break;
        }
        slot = (slot + 1) & (ENTRY_SLOTS_COUNT - 1);
      }
      last = at;
      lastBytes = bytes;
    }
    store<u8>(NUMBERS + i, u8(lastIndex));
  }
  let end = out + (entries << 1);
  for (let i: usize = 0; i < entries; i++) {
    const bytes = bytesOf(ENTRIES, i);
    store<u16>(out + (i << 1), u16(bytes));
    copyOver(end, startOf(ENTRIES, i), bytes);
    end += bytes;
  }
  store<u8>(record, u8(WORDS), RECORD_TYPE);
  store<u32>(record, u32(entries), RECORD_NUMBER);
  if (entries === 1) return end;
  const bits = bitsOfIndex(entries);
  store<u8>(record, u8(bits), RECORD_WIDTH);
  if (bits === 0) memory.copy(end, NUMBERS, count);
  else packIndexes(NUMBERS, count, bits, end);
  return end + usize(indexBytes(u64(count), bits));
}

/** Number of decimals of the latest number. */
let decimals: u32 = 0;

const NO_NUMBER: i64 = i64.MIN_VALUE;

/** Parses a number and ignores its decimal point. */
function readNumber(start: usize, bytes: usize): i64 {
  const end = start + bytes;
  let at = start;
  const isNegative = load<u8>(at) === 0x2d;
  if (isNegative) at++;
  let value: i64 = 0;
  let digits: u32 = 0;
  let dot: usize = 0;
  const first = at;
  for (; at < end; at++) {
    const byte = u32(load<u8>(at));
    if (isDigit(byte)) {
      if (++digits > MAX_NUMBER_DIGITS) return NO_NUMBER;
      value = value * 10 + i64(byte - 0x30);
    } else if (byte === 0x2e && dot === 0) dot = at;
    else return NO_NUMBER;
  }
  const wholeEnd = dot === 0 ? end : dot;
  if (wholeEnd === first || (wholeEnd - first > 1 && load<u8>(first) === 0x30)) return NO_NUMBER;
  if (isNegative && value === 0) return NO_NUMBER;
  decimals = 0;
  if (dot !== 0) {
    decimals = u32(end - dot) - 1;
    if (decimals === 0 || decimals > MAX_DECIMALS) return NO_NUMBER;
  }
  return isNegative ? -value : value;
}

function packDecimals(record: usize, spans: usize, count: usize, out: usize): usize {
  let wanted: u32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const value = readNumber(startOf(spans, i), bytesOf(spans, i));
    if (value === NO_NUMBER) return 0;
    if (i === 0) wanted = decimals;
    else if (decimals !== wanted) return 0;
    store<i64>(NUMBERS + (i << 3), value);
  }
  store<u8>(record, u8(NUMBER), RECORD_TYPE);
  store<u8>(record, u8(wanted), RECORD_DETAIL);
  return packNumbers(record, count, true, out);
}

function packText(record: usize, spans: usize, count: usize, out: usize): usize {
  for (let i: usize = 0; i < count; i++) store<i64>(NUMBERS + (i << 3), i64(bytesOf(spans, i)));
  let end = packNumbers(record, count, false, out);
  for (let i: usize = 0; i < count; i++) {
    const bytes = bytesOf(spans, i);
    copyOver(end, startOf(spans, i), bytes);
    end += bytes;
  }
  store<u8>(record, u8(TEXT), RECORD_TYPE);
  store<u8>(record, 0, RECORD_DETAIL);
  store<u8>(record, u8(DIRECT), RECORD_MODE);
  return end;
}
