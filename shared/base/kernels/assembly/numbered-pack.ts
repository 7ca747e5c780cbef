/**
 * Encodes a column of texts with a number, as `server.go:169`, `t-344` or `3.568ms` (column-pack.ts). What is around the number, the
 * *affixes*, repeats. The number of a text is its longest run of digits, the last of equally long ones, with a decimal point and
 * the digits on its other side. Texts whose number is always the same are affixes without a number.
 */
import { NUMBERED } from './column-types';
import { heldByte } from './held';
import {
  packNumbers,
  RECORD_BASE,
  RECORD_DETAIL,
  RECORD_MODE,
  RECORD_NUMBER,
  RECORD_TYPE,
  RECORD_WIDTH,
} from './number-pack';
import {
  AFFIX_INDEXES,
  AFFIXES,
  copyOver,
  ENTRY_SLOTS,
  ENTRY_SLOTS_COUNT,
  LITERALS,
  MAX_AFFIXES,
  MAX_ENTRY_BYTES,
  NUMBERS,
} from './split-layout';
import { areEqual, hashOf } from './text-equality';
import { bytesOf, startOf } from './value-spans';

/** Index of a text that has none of the affixes. */
export const OWN_TEXT: u32 = 255;
/** Size of the head of affixes: bytes before and after the number (2 each); 0 for no number, or its decimals plus 1. */
export const AFFIX_HEAD: usize = 5;
/** Bit of the mode: there are no indexes, because all texts have the same affixes. */
export const NO_INDEXES: u32 = 2;

/** Minimum number of values: affixes cost 5 bytes each. */
const MIN_VALUES: usize = 32;
/** Bytes of a text in which its number is searched for, one for each bit of a mask. */
const SEARCHED_BYTES: usize = 64;
const MAX_DIGITS: usize = 15;
const MAX_DECIMALS: usize = 9;

// Layout of affixes while a column is packed.
const AFFIX_BYTES: usize = 32;
const AFFIX_START: usize = 0;
const AFFIX_BEFORE: usize = 4;
const AFFIX_AFTER: usize = 8;
const AFFIX_FORM: usize = 12;
const AFFIX_TEXT: usize = 16;
/** 1 if the texts with these affixes have different numbers. */
const AFFIX_VARIES: usize = 20;
const AFFIX_NUMBER: usize = 24;

/** Number of the latest text: where it starts and ends, 0 for none or its decimals plus 1, and its digits. */
let numberStart: usize = 0;
let numberEnd: usize = 0;
let form: u32 = 0;
let number: i64 = 0;

/** Returns a bit for each digit of up to SEARCHED_BYTES bytes. */
// @inline
function digitsIn(at: usize, bytes: usize, zero: v128, ten: v128): u64 {
  let digits: u64 = 0;
  for (let part: usize = 0; part < bytes; part += 16) {
    const isDigit = i8x16.lt_u(i8x16.sub(v128.load(at + part), zero), ten);
    digits |= u64(u32(i8x16.bitmask(isDigit))) << u64(part);
  }
  return digits & (u64.MAX_VALUE >>> u64(SEARCHED_BYTES - bytes));
}

// @inline
function hasBit(bits: u64, i: usize): bool {
  return ((bits >>> u64(i)) & 1) !== 0;
}

/** Finds the number of a text. */
function findNumber(at: usize, bytes: usize, zero: v128, ten: v128): void {
  form = 0;
  numberStart = bytes;
  numberEnd = bytes;
  number = 0;
  const seen = min(bytes, SEARCHED_BYTES);
  if (seen === 0) return;
  const digits = digitsIn(at, seen, zero, ten);
  if (digits === 0) return;
  let run: usize = 1;
  let ends = digits;
  for (let longer = ends & (ends << 1); longer !== 0; longer = ends & (ends << 1)) {
    ends = longer;
    run++;
  }
  let end = SEARCHED_BYTES - usize(clz(ends));
  let start = end - run;
  let decimals: usize = 0;
  if (run <= MAX_DECIMALS && start >= 2 && load<u8>(at + start - 1) === 0x2e && hasBit(digits, start - 2)) {
    decimals = run;
    const others = ~digits & ((u64(1) << u64(start - 1)) - 1);
    start = SEARCHED_BYTES - usize(clz(others));
  } else if (end + 1 < seen && load<u8>(at + end) === 0x2e && hasBit(digits, end + 1)) {
    const behind = min(usize(ctz(~digits >>> u64(end + 1))), seen - end - 1);
    if (behind <= MAX_DECIMALS) {
      decimals = behind;
      end += 1 + behind;
    }
  }
  const wholeEnd = decimals === 0 ? end : end - decimals - 1;
  const most = decimals === 0 ? MAX_DIGITS : MAX_DIGITS - decimals;
  if (wholeEnd - start > most) start = wholeEnd - most;
  while (start + 1 < wholeEnd && load<u8>(at + start) === 0x30) start++;
  let value: i64 = 0;
  for (let i = start; i < end; i++) {
    if (i !== wholeEnd) value = value * 10 + i64(u32(load<u8>(at + i)) - 0x30);
  }
  form = u32(decimals) + 1;
  numberStart = start;
  numberEnd = end;
  number = value;
}

let affixes: u32 = 0;

/** Returns the index of the affixes of a text whose number was found, or OWN_TEXT. */
// @inline
function affixesOf(at: usize, bytes: usize): u32 {
  const before = numberStart;
  const after = bytes - numberEnd;
  const hash = hashOf(at, before) ^ (hashOf(at + numberEnd, after) * 31) ^ form;
  let slot = usize(hash) & (ENTRY_SLOTS_COUNT - 1);
  for (;;) {
    const known = u32(load<u16>(ENTRY_SLOTS + (slot << 1)));
    if (known === 0) break;
    const entry = AFFIXES + usize(known - 1) * AFFIX_BYTES;
    const start = usize(load<u32>(entry, AFFIX_START));
    if (
      load<u32>(entry, AFFIX_BEFORE) === u32(before) &&
      load<u32>(entry, AFFIX_AFTER) === u32(after) &&
      load<u32>(entry, AFFIX_FORM) === form &&
      areEqual(start, at, before) &&
      areEqual(start + usize(load<u32>(entry, AFFIX_TEXT)) - after, at + numberEnd, after)
    ) {
      if (load<i64>(entry, AFFIX_NUMBER) !== number) store<u32>(entry, 1, AFFIX_VARIES);
      return known - 1;
    }
    slot = (slot + 1) & (ENTRY_SLOTS_COUNT - 1);
  }
  if (affixes === MAX_AFFIXES || bytes > MAX_ENTRY_BYTES) return OWN_TEXT;
  const entry = AFFIXES + usize(affixes) * AFFIX_BYTES;
  store<u32>(entry, u32(at), AFFIX_START);
  store<u32>(entry, u32(before), AFFIX_BEFORE);
  store<u32>(entry, u32(after), AFFIX_AFTER);
  store<u32>(entry, form, AFFIX_FORM);
  store<u32>(entry, u32(bytes), AFFIX_TEXT);
  store<u32>(entry, 0, AFFIX_VARIES);
  store<i64>(entry, number, AFFIX_NUMBER);
  store<u16>(ENTRY_SLOTS + (slot << 1), u16(++affixes));
  return affixes - 1;
}

/** Encodes texts with a number. Returns 0 if most of them have different affixes, or if texts are hardly longer. */
export function packNumbered(record: usize, spans: usize, count: usize, out: usize): usize {
  if (count < MIN_VALUES) return 0;
  const zero = heldByte(LITERALS, 0x30);
  const ten = heldByte(LITERALS + 1, 10);
  memory.fill(ENTRY_SLOTS, 0, 2 * ENTRY_SLOTS_COUNT);
  affixes = 0;
  let own: usize = 0;
  let text: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    const at = startOf(spans, i);
    const bytes = bytesOf(spans, i);
    text += bytes;
    findNumber(at, bytes, zero, ten);
    const index = affixesOf(at, bytes);
    if (index === OWN_TEXT && ++own > count >>> 3) return 0;
    if (index === OWN_TEXT && bytes > 0xffff) return 0;
    store<u8>(AFFIX_INDEXES + i, u8(index));
    store<i64>(NUMBERS + (i << 3), number);
  }
  if (affixes === 0) return 0;
  const isIndexed = affixes > 1 || own > 0;
  let end = out;
  if (isIndexed) {
    memory.copy(out, AFFIX_INDEXES, count);
    end += count;
  }
  end = writeOwnTexts(spans, count, own, writeAffixes(end));
  const numbers = keepNumbers(count);
  if (numbers > 0) end = packNumbers(record, numbers, true, end);
  else {
    store<u8>(record, 0, RECORD_WIDTH);
    store<u8>(record, 0, RECORD_MODE);
    store<i64>(record, 0, RECORD_BASE);
  }
  const packed: usize = 4 * (end - out);
  const most: usize = 3 * (text + count);
  if (packed > most) return 0;
  store<u8>(record, u8(NUMBERED), RECORD_TYPE);
  store<u8>(record, u8(affixes), RECORD_DETAIL);
  store<u8>(record, u8(u32(load<u8>(record, RECORD_MODE)) | (isIndexed ? 0 : NO_INDEXES)), RECORD_MODE);
  store<u32>(record, u32(text), RECORD_NUMBER);
  return end;
}

/** Writes the heads of the affixes, then their texts. */
function writeAffixes(out: usize): usize {
  let end = out + usize(affixes) * AFFIX_HEAD;
  let head = out;
  for (let i: u32 = 0; i < affixes; i++) {
    const entry = AFFIXES + usize(i) * AFFIX_BYTES;
    const start = usize(load<u32>(entry, AFFIX_START));
    const bytes = usize(load<u32>(entry, AFFIX_TEXT));
    const isVaried = load<u32>(entry, AFFIX_VARIES) !== 0;
    const before = isVaried ? usize(load<u32>(entry, AFFIX_BEFORE)) : bytes;
    const after = isVaried ? usize(load<u32>(entry, AFFIX_AFTER)) : 0;
    store<u16>(head, u16(before));
    store<u16>(head, u16(after), 2);
    store<u8>(head, isVaried ? u8(load<u32>(entry, AFFIX_FORM)) : 0, 4);
    head += AFFIX_HEAD;
    copyOver(end, start, before);
    end += before;
    copyOver(end, start + bytes - after, after);
    end += after;
  }
  return end;
}

/** Writes the lengths of texts without affixes, then those texts. */
function writeOwnTexts(spans: usize, count: usize, own: usize, out: usize): usize {
  let end = out + 2 * own;
  if (own === 0) return end;
  let length = out;
  for (let i: usize = 0; i < count; i++) {
    if (u32(load<u8>(AFFIX_INDEXES + i)) !== OWN_TEXT) continue;
    const bytes = bytesOf(spans, i);
    store<u16>(length, u16(bytes));
    length += 2;
    copyOver(end, startOf(spans, i), bytes);
    end += bytes;
  }
  return end;
}

/** Moves the numbers together that affixes need. Returns how many there are. */
function keepNumbers(count: usize): usize {
  let to = NUMBERS;
  for (let i: usize = 0; i < count; i++) {
    const index = u32(load<u8>(AFFIX_INDEXES + i));
    if (index === OWN_TEXT || load<u32>(AFFIXES + usize(index) * AFFIX_BYTES, AFFIX_VARIES) === 0) continue;
    store<i64>(to, load<i64>(NUMBERS + (i << 3)));
    to += 8;
  }
  return (to - NUMBERS) >>> 3;
}
