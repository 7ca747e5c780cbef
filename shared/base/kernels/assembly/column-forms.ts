/**
 * Forms of the values of columns, for row-classes.ts. Values of most columns have one form, or a form for each entry of a dictionary
 * and for each affix (numbered-pack.ts), because a number does not change the form of a text. So few values are read.
 */
import { CLOCK, NUMBER, NUMBERED, PATTERN, WORDS } from './column-types';
import {
  RECORD_BYTES,
  RECORD_DETAIL,
  RECORD_MODE,
  RECORD_NUMBER,
  RECORD_TYPE,
  RECORD_WIDTH,
  recordOf,
} from './number-pack';
import { AFFIX_HEAD, NO_INDEXES, OWN_TEXT } from './numbered-pack';
import {
  CODE_BYTES,
  CODE_RECORD,
  CODE_RECORDS,
  COLUMN_ENDS,
  COLUMN_FORMS,
  COLUMN_OUTPUTS,
  COLUMN_SIGNS,
  COLUMN_STATE,
  COLUMN_STATES,
  MAX_CODE_BYTES,
  MAX_CODE_RECORDS,
  MAX_COLUMNS,
  SORTED_SPANS,
  SPLIT_OUT,
} from './split-layout';
import {
  formMarks,
  formOf,
  formTraits,
  formWords,
  isNumeric,
  NO_FORM,
  VALUE,
  VALUE_WITH_SLASH,
} from './value-forms';
import { bytesOf, startOf } from './value-spans';
import { gapStop, isText, wordStop } from './value-words';

// What is known of a column, if its values differ in more than digits: that there is one word with a digit; the form of each
// code; that of the only code; nothing.
export const ONE_VALUE: u32 = 2;
const CODED: u32 = 3;
const ONE_CODE: u32 = 4;
const PLAIN: u32 = 5;

// Layout of a column's state: span of the next value, the end of spans, codes, and records. The address of codes is
// that of the first one less the address of its span in units of 8 bytes.
const END: usize = 4;
const CODES: usize = 8;
const RECORDS: usize = 12;

// Layout of a code's record: form plus 1, words with digits, marks of its values, traits, where its number is, and a bit for the word
// that contains it.
export const CODE_WORDS: usize = 4;
export const CODE_MARKS: usize = 8;
export const CODE_TRAITS: usize = 16;
/** Offset of the number plus 1, or 0 for none. */
const NUMBER_AT: usize = 20;
export const CODE_NUMBER: usize = 24;

let records: usize = 0;
let codeBytes: usize = 0;

/** Begins a page, whose columns are packed. */
export function clearColumns(columns: usize): void {
  memory.fill(COLUMN_FORMS, 0, MAX_COLUMNS);
  memory.fill(COLUMN_SIGNS, 0, MAX_COLUMNS);
  // Code 0 stands for none.
  records = 1;
  codeBytes = 0;
  let out = SPLIT_OUT;
  let span = SORTED_SPANS;
  for (let column: usize = 0; column < columns; column++) {
    const state = COLUMN_STATES + column * COLUMN_STATE;
    store<u32>(state, u32(span));
    span = SORTED_SPANS + (usize(load<u32>(COLUMN_ENDS + (column << 2))) << 3);
    store<u32>(state, u32(span), END);
    store<u32>(COLUMN_OUTPUTS + (column << 2), u32(out));
    out += usize(load<u32>(recordOf(column), RECORD_BYTES));
  }
}

/** Returns what is known of a column: the form of all values, ONE_VALUE or more. */
// @inline
export function formOfColumn(column: usize): u32 {
  const known = u32(load<u8>(COLUMN_FORMS + column));
  return known !== 0 ? known - 1 : learnColumn(column);
}

function learnColumn(column: usize): u32 {
  const known = formOfAll(column);
  store<u8>(COLUMN_FORMS + column, u8(known + 1));
  return known;
}

function formOfAll(column: usize): u32 {
  const state = COLUMN_STATES + column * COLUMN_STATE;
  const record = recordOf(column);
  const type = u32(load<u8>(record, RECORD_TYPE));
  const spans = usize(load<u32>(state));
  const count = (usize(load<u32>(state, END)) - spans) >>> 3;
  if (count === 0) return PLAIN;
  if (type === WORDS) return formOfEntries(column, state, record, count);
  if (type === NUMBERED) return layAffixes(column, state, record, count);
  const form = formOf(startOf(spans, 0), startOf(spans, 0) + bytesOf(spans, 0));
  if (form > VALUE_WITH_SLASH) return PLAIN;
  // Values of these types have the same bytes but digits.
  if (type === NUMBER || type === PATTERN || type === CLOCK) return form;
  for (let i: usize = 1; i < count; i++) {
    const start = startOf(spans, i);
    const bytes = bytesOf(spans, i);
    if (form === VALUE && isNumeric(start, bytes)) continue;
    if (formOf(start, start + bytes) !== form) return PLAIN;
  }
  return form;
}

function formOfEntries(column: usize, state: usize, record: usize, count: usize): u32 {
  const entries = usize(load<u32>(record, RECORD_NUMBER));
  const out = usize(load<u32>(COLUMN_OUTPUTS + (column << 2)));
  let at = out + (entries << 1);
  let form: u32 = 0;
  let isSame = true;
  for (let i: usize = 0; i < entries; i++) {
    const end = at + usize(load<u16>(out + (i << 1)));
    if (isSame) {
      const own = formOf(at, end);
      if (i === 0) form = own;
      isSame = own === form && own <= VALUE_WITH_SLASH;
    }
    at = end;
  }
  if (isSame) return entries === 1 ? ONE_VALUE : form;
  if (entries === 1) return layCodes(state, 0, 1);
  const bits = u32(load<u8>(record, RECORD_WIDTH));
  if (bits === 0) return layCodes(state, at, entries);
  if (codeBytes + count > MAX_CODE_BYTES) return PLAIN;
  const codes = CODE_BYTES + codeBytes;
  codeBytes += count;
  const mask = (1 << bits) - 1;
  for (let i: usize = 0; i < count; i++) {
    const bit = u32(i) * bits;
    store<u8>(codes + i, u8((u32(load<u8>(at + usize(bit >>> 3))) >>> (bit & 7)) & mask));
  }
  return layCodes(state, codes, entries);
}

function layAffixes(column: usize, state: usize, record: usize, count: usize): u32 {
  const out = usize(load<u32>(COLUMN_OUTPUTS + (column << 2)));
  const isIndexed = (u32(load<u8>(record, RECORD_MODE)) & NO_INDEXES) === 0;
  const affixes = usize(load<u8>(record, RECORD_DETAIL));
  const known = layCodes(state, isIndexed ? out : 0, affixes);
  if (known === PLAIN) return PLAIN;
  let head = isIndexed ? out + count : out;
  let own = CODE_RECORDS + usize(load<u32>(state, RECORDS)) * CODE_RECORD;
  for (let i: usize = 0; i < affixes; i++) {
    store<u32>(own, load<u8>(head, 4) === 0 ? 0 : u32(load<u16>(head)) + 1, NUMBER_AT);
    head += AFFIX_HEAD;
    own += CODE_RECORD;
  }
  return known;
}

/** @param codes a byte for each value, or 0 if all have the first one */
function layCodes(state: usize, codes: usize, count: usize): u32 {
  if (records + count > MAX_CODE_RECORDS) return PLAIN;
  memory.fill(CODE_RECORDS + records * CODE_RECORD, 0, count * CODE_RECORD);
  store<u32>(state, u32(codes) - (load<u32>(state) >>> 3), CODES);
  store<u32>(state, u32(records), RECORDS);
  records += count;
  return codes === 0 ? ONE_CODE : CODED;
}

/**
 * Returns the record of a value of a column without a form: that of its code, or `own`, which is written. It begins with 0 if the value has
 * no form. Rows must ascend.
 */
// @inline
export function recordOfValue(column: usize, span: usize, own: usize): usize {
  if (u32(load<u8>(COLUMN_FORMS + column)) !== CODED + 1) return recordOfOther(column, span, own);
  const state = COLUMN_STATES + column * COLUMN_STATE;
  let next = usize(load<u32>(state));
  if (load<u64>(next) !== load<u64>(span)) next = skipValues(state, span);
  if (next >= usize(load<u32>(state, END))) return writeRecord(own, span);
  store<u32>(state, u32(next + 8));
  const code = usize(load<u8>(usize(load<u32>(state, CODES) + u32(next >>> 3))));
  if (code === OWN_TEXT && u32(load<u8>(recordOf(column), RECORD_TYPE)) === NUMBERED)
    return writeRecord(own, span);
  const known = CODE_RECORDS + (usize(load<u32>(state, RECORDS)) + code) * CODE_RECORD;
  return load<u32>(known) !== 0 ? known : learnCode(known, span);
}

/** Returns the span of a value behind those of other rows, whose forms were not needed, or the end. */
function skipValues(state: usize, span: usize): usize {
  const own = load<u64>(span);
  const last = usize(load<u32>(state, END));
  let next = usize(load<u32>(state));
  while (next < last && load<u64>(next) !== own) next += 8;
  return next;
}

function recordOfOther(column: usize, span: usize, own: usize): usize {
  if (u32(load<u8>(COLUMN_FORMS + column)) !== ONE_CODE + 1) return writeRecord(own, span);
  const known = CODE_RECORDS + usize(load<u32>(COLUMN_STATES + column * COLUMN_STATE, RECORDS)) * CODE_RECORD;
  return load<u32>(known) !== 0 ? known : learnCode(known, span);
}

function writeRecord(to: usize, span: usize): usize {
  const from = startOf(span, 0);
  const form = formOf(from, from + bytesOf(span, 0));
  store<u32>(to, form + 1);
  store<u32>(to, formWords, CODE_WORDS);
  store<u64>(to, formMarks, CODE_MARKS);
  store<u32>(to, formTraits, CODE_TRAITS);
  store<u64>(to, 0, CODE_NUMBER);
  return to;
}

function learnCode(known: usize, span: usize): usize {
  const number = load<u32>(known, NUMBER_AT);
  writeRecord(known, span);
  const form = load<u32>(known) - 1;
  if (form === NO_FORM || number === 0) return known;
  const from = startOf(span, 0);
  const mark = markAt(usize(number) - 1, form, from, from + bytesOf(span, 0));
  store<u64>(known, mark, CODE_NUMBER);
  store<u64>(known, load<u64>(known, CODE_MARKS) | mark, CODE_MARKS);
  return known;
}

/** Returns a bit for the word with digits at an offset of a value. */
function markAt(offset: usize, form: u32, from: usize, end: usize): u64 {
  if (form <= VALUE_WITH_SLASH) return 1;
  let mark: u64 = 1;
  let at = from;
  while (at < end) {
    at = wordStop(gapStop(at, end), end);
    if (at > from + offset) break;
    if (!isText) mark <<= 1;
  }
  return mark;
}
