/**
 * Values of one field in the lines of a page, for columns of Parquet files: their positions, their types as numbers, and their numbers in
 * a dictionary. The members are those that field-members.ts has found in the lines at FIELD_LINES. So the values are read while the lines
 * are in the processor's cache: later, each of them would wait for memory.
 */
import {
  FIELD_LINES,
  JSON_MEMBERS,
  LOGFMT_MEMBERS,
  MAX_FIELD_LINE,
  MAX_FIELD_ROWS,
  MEMBER_ENDS,
  MEMBER_KINDS,
  MEMBER_ORDER,
  MEMBER_ROWS,
  MEMBER_STARTS,
} from './field-layout';
import { SLACK } from './layout';
import { NOTHING, STRUCTURE, VALUE } from './member-list';
import { BACKSLASH, QUOTE } from './text-bytes';
import { areEqual, hashOf } from './text-equality';

/** Columns of the values, by their order: at most one of each row. */
export const VALUE_ROWS: usize = FIELD_LINES + MAX_FIELD_LINE + 2 * SLACK;
export const VALUE_STARTS: usize = VALUE_ROWS + 4 * MAX_FIELD_ROWS;
export const VALUE_ENDS: usize = VALUE_STARTS + 4 * MAX_FIELD_ROWS;
export const VALUE_KINDS: usize = VALUE_ENDS + 4 * MAX_FIELD_ROWS;
export const VALUE_NUMBERS: usize = VALUE_KINDS + MAX_FIELD_ROWS;
/** Numbers in the dictionary. */
export const VALUE_INDEXES: usize = VALUE_NUMBERS + 8 * MAX_FIELD_ROWS;

/** Dictionaries, each: slots of hash and number, offsets of the texts, and the texts, each after its length. */
export const DICTIONARIES: usize = VALUE_INDEXES + 4 * MAX_FIELD_ROWS;
const MAX_DISTINCT: u32 = 8192;
const SLOTS: usize = 2 * usize(MAX_DISTINCT);
const DICTIONARY_OFFSETS: usize = 8 * SLOTS;
export const DICTIONARY_TEXTS: usize = DICTIONARY_OFFSETS + 4 * usize(MAX_DISTINCT);
const MAX_TEXT_BYTES: usize = 256 * 1024;
export const DICTIONARY_BYTES: usize = DICTIONARY_TEXTS + MAX_TEXT_BYTES + SLACK;
/** As in text-columns.ts. */
const MAX_STEPS: u32 = 8;
/** Values after which a dictionary that hardly repeats them ends. */
const TRIED_VALUES: u32 = 512;

/** What the values are, as flags. */
export const INTEGERS: u32 = 1;
export const DECIMALS: u32 = 2;
export const BOOLEANS: u32 = 4;
export const TEXTS: u32 = 8;
export const EMPTY_TEXTS: u32 = 16;
/** Numbers that are too long for this kernel, or have an exponent. */
export const OTHER_NUMBERS: u32 = 32;

/** Characters of a number whose digits and power of ten are exact in a double. */
const MAX_NUMBER_BYTES: usize = 15;

const MINUS: u32 = 0x2d;
const PLUS: u32 = 0x2b;
const POINT: u32 = 0x2e;
const ZERO: u32 = 0x30;
/** `true`, `fals` and `e` in memory order. */
const TRUE: u32 = 0x65757274;
const FALS: u32 = 0x736c6166;
const LETTER_E: u32 = 0x65;
const LOWER: u32 = 0x20;

let rowsWithField: u32 = 0;
let areAllPlain: bool = true;

/** Rows of the last call of `gatherValues` that have the field, also those without a value. */
export function fieldRows(): u32 {
  return rowsWithField;
}

// @inline
function addressOf(position: u32, firstByte: u32): usize {
  return FIELD_LINES + usize(position - firstByte);
}

// @inline
function rowOf(list: usize, at: u32): u32 {
  return load<u32>(list + (usize(at) << 2), MEMBER_ROWS);
}

// @inline
function memberAt(list: usize, i: u32): u32 {
  return load<u32>(list + (usize(i) << 2), MEMBER_ORDER);
}

/** Whether the bytes of each gathered value are its text. */
export function arePlainValues(): bool {
  return areAllPlain;
}

/**
 * Writes the values of a key of each parser, by rows, without those that are nothing. If a JSON line has the key twice, the last value
 * counts, and in a logfmt line the first one. Completes the ends of objects and arrays.
 * @param firstByte position of the lines in their table
 * @param length bytes of the lines
 * @returns how many
 */
export function gatherValues(
  jsonFrom: u32,
  jsonTo: u32,
  logfmtFrom: u32,
  logfmtTo: u32,
  firstByte: u32,
  length: usize,
): u32 {
  let json = jsonFrom;
  let logfmt = logfmtFrom;
  let count: u32 = 0;
  let rows: u32 = 0;
  let last: u32 = 0xffffffff;
  areAllPlain = true;
  while (json < jsonTo || logfmt < logfmtTo) {
    const jsonAt = json < jsonTo ? memberAt(JSON_MEMBERS, json) : 0;
    const logfmtAt = logfmt < logfmtTo ? memberAt(LOGFMT_MEMBERS, logfmt) : 0;
    const isJson =
      json < jsonTo && (logfmt === logfmtTo || rowOf(JSON_MEMBERS, jsonAt) < rowOf(LOGFMT_MEMBERS, logfmtAt));
    const list = isJson ? JSON_MEMBERS : LOGFMT_MEMBERS;
    const at = isJson ? jsonAt : logfmtAt;
    if (isJson) json++;
    else logfmt++;
    const row = rowOf(list, at);
    if (row !== last) rows++;
    else if (!isJson) continue;
    else if (count > 0 && load<u32>(VALUE_ROWS + (usize(count - 1) << 2)) === row) count--;
    last = row;
    let kind = u32(load<u8>(list + usize(at), MEMBER_KINDS));
    if (kind === NOTHING || count === u32(MAX_FIELD_ROWS)) continue;
    const start = load<u32>(list + (usize(at) << 2), MEMBER_STARTS);
    let end = load<u32>(list + (usize(at) << 2), MEMBER_ENDS);
    if (kind === STRUCTURE) {
      const after = blockEnd(addressOf(start, firstByte), FIELD_LINES + length);
      if (after > 0) {
        end = firstByte + u32(after - FIELD_LINES);
        kind = VALUE;
      }
    }
    if (kind !== VALUE) areAllPlain = false;
    const own = usize(count) << 2;
    store<u32>(VALUE_ROWS + own, row);
    store<u32>(VALUE_STARTS + own, start);
    store<u32>(VALUE_ENDS + own, end);
    store<u8>(VALUE_KINDS + usize(count), u8(kind));
    count++;
  }
  rowsWithField = rows;
  return count;
}

/** Address after the object or array that opens at `from`, or 0 if it has no end. Brackets of the other kind do not matter. */
function blockEnd(from: usize, end: usize): usize {
  const open = u32(load<u8>(from));
  const close = open + 2;
  let depth: u32 = 0;
  for (let at = from; at < end; at++) {
    const byte = u32(load<u8>(at));
    if (byte === QUOTE) {
      for (at++; at < end && u32(load<u8>(at)) !== QUOTE; at++) if (u32(load<u8>(at)) === BACKSLASH) at++;
    } else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return at + 1;
  }
  return 0;
}

/** Finds the types of the gathered values, and writes their numbers: booleans as 0 and 1. Stops at a text. Returns flags. */
export function typeValues(count: u32, firstByte: u32): u32 {
  let types: u32 = 0;
  for (let i: usize = 0; i < usize(count); i++) {
    const kind = u32(load<u8>(VALUE_KINDS + i));
    const start = addressOf(load<u32>(VALUE_STARTS + (i << 2)), firstByte);
    const end = addressOf(load<u32>(VALUE_ENDS + (i << 2)), firstByte);
    types |= kind === VALUE ? typeOf(start, end, VALUE_NUMBERS + (i << 3)) : TEXTS;
    if ((types & TEXTS) !== 0) return types;
  }
  return types;
}

/** Writes the number. See shared/server/open-data/parquet-types.ts. */
function typeOf(start: usize, end: usize, number: usize): u32 {
  if (start === end) return EMPTY_TEXTS;
  const first = u32(load<u8>(start));
  const length = end - start;
  if (first !== MINUS && first - ZERO > 9) {
    const isTrue = length === 4 && load<u32>(start) === TRUE;
    if (!isTrue && !(length === 5 && load<u32>(start) === FALS && u32(load<u8>(start + 4)) === LETTER_E))
      return TEXTS;
    store<f64>(number, isTrue ? 1 : 0);
    return BOOLEANS;
  }
  if (length > MAX_NUMBER_BYTES) return OTHER_NUMBERS;
  const from = first === MINUS ? start + 1 : start;
  let point: usize = 0;
  let digits: u64 = 0;
  let power: f64 = 1;
  for (let at = from; at < end; at++) {
    const byte = u32(load<u8>(at));
    const digit = byte - ZERO;
    if (digit <= 9) {
      digits = digits * 10 + u64(digit);
      if (point !== 0) power *= 10;
    } else if (byte === POINT && point === 0) point = at;
    else return (byte | LOWER) === LETTER_E || byte === MINUS || byte === PLUS ? OTHER_NUMBERS : TEXTS;
  }
  const integerEnd = point === 0 ? end : point;
  const hasLeadingZero = u32(load<u8>(from)) === ZERO && integerEnd > from + 1;
  if (integerEnd === from || hasLeadingZero || point === end - 1) return TEXTS;
  // Digits and power are exact, so their quotient is rounded once.
  const value = f64(digits) / power;
  store<f64>(number, first === MINUS ? -value : value);
  return point === 0 ? INTEGERS : DECIMALS;
}

let distinct: u32 = 0;
let textBytes: usize = 0;

/** Distinct texts of the dictionary of the last call of `numberValues`. */
export function dictionarySize(): u32 {
  return distinct;
}

/** Bytes of its texts. */
export function dictionaryBytes(): usize {
  return textBytes;
}

/**
 * Numbers the gathered values in the order of their first occurrence. The first call for a dictionary has `size` 0.
 * @param dictionary its address
 * @param size, bytes, seen distinct texts of the dictionary, their bytes, and values that it has numbered
 * @returns false if the texts hardly repeat, are too many, or if their search takes too long. The dictionary then has ended
 */
export function numberValues(
  dictionary: usize,
  size: u32,
  bytes: usize,
  seen: u32,
  count: u32,
  firstByte: u32,
): bool {
  if (size === 0) memory.fill(dictionary, 0, 8 * SLOTS);
  const texts = dictionary + DICTIONARY_TEXTS;
  const maxSteps = MAX_STEPS * max(count, TRIED_VALUES);
  let steps: u32 = 0;
  distinct = size;
  textBytes = bytes;
  for (let i: usize = 0; i < usize(count); i++) {
    const start = addressOf(load<u32>(VALUE_STARTS + (i << 2)), firstByte);
    const length = addressOf(load<u32>(VALUE_ENDS + (i << 2)), firstByte) - start;
    const hash = hashOf(start, length);
    let slot = usize(hash) & (SLOTS - 1);
    let number: u32;
    while (true) {
      const at = dictionary + (slot << 3);
      number = load<u32>(at);
      if (number === 0) {
        if (distinct === MAX_DISTINCT || length + 4 > MAX_TEXT_BYTES - textBytes) return false;
        store<u32>(dictionary + (usize(distinct) << 2), u32(textBytes), DICTIONARY_OFFSETS);
        number = ++distinct;
        store<u32>(at, number);
        store<u32>(at, hash, 4);
        const text = texts + textBytes;
        store<u32>(text, u32(length));
        memory.copy(text + 4, start, length);
        textBytes += 4 + length;
        break;
      }
      if (load<u32>(at, 4) === hash) {
        const text = texts + usize(load<u32>(dictionary + (usize(number - 1) << 2), DICTIONARY_OFFSETS));
        if (usize(load<u32>(text)) === length) {
          if (areEqual(start, text + 4, length)) break;
          steps += u32(length >>> 3);
        }
      }
      steps++;
      slot = (slot + 1) & (SLOTS - 1);
    }
    store<u32>(VALUE_INDEXES + (i << 2), number - 1);
    if (steps > maxSteps || distinct * 2 > max(seen + u32(i) + 1, TRIED_VALUES)) return false;
  }
  return true;
}
