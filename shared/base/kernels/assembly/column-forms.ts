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
import { formMarks, formOf, formTraits, formWords, NO_FORM, setForm, VALUE_WITH_SLASH } from './value-forms';
import { bytesOf, startOf } from './value-spans';
import { gapStop, isText, wordStop } from './value-words';

// What is known of a column, if its values differ in more than digits: that there is one word with a digit; the form of each
// code; that of the only code; nothing.
export const ONE_VALUE: u32 = 2;
const CODED: u32 = 3;
const ONE_CODE: u32 = 4;
const PLAIN: u32 = 5;

/** Record of the code of the latest value, or 0, and a bit for the word that contains its number. */
export let valueCode: u32 = 0;
export let numberMark: u64 = 0;

// Layout of a column's state: span of the next value, the end of spans, codes, and records. The address of codes is
// that of the first one less the address of its span in units of 8 bytes.
const END: usize = 4;
const CODES: usize = 8;
const RECORDS: usize = 12;

// Layout of a code's record: form plus 1, words with digits, marks of its first value, traits, where its number is, and its mark.
const WORDS_OF: usize = 4;
const MARKS: usize = 8;
const TRAITS: usize = 16;
/** Offset of the number plus 1, or 0 for none. */
const NUMBER_AT: usize = 20;
const NUMBER_MARK: usize = 24;

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
    if (formOf(start, start + bytesOf(spans, i)) !== form) return PLAIN;
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

/** Returns the form of a value of a column without a form, and sets `formWords`, `formMarks`, `formTraits`, `valueCode` and `numberMark`. */
// @inline
export function formInColumn(column: usize, span: usize, from: usize, end: usize): u32 {
  valueCode = 0;
  numberMark = 0;
  const known = u32(load<u8>(COLUMN_FORMS + column)) - 1;
  return known === PLAIN ? formOf(from, end) : formOfCode(column, known, span, from, end);
}

function formOfCode(column: usize, kind: u32, span: usize, from: usize, end: usize): u32 {
  const state = COLUMN_STATES + column * COLUMN_STATE;
  let code: u32 = 0;
  if (kind === CODED) {
    const own = load<u64>(span);
    const last = load<u32>(state, END);
    let next = load<u32>(state);
    // Values of other rows, whose forms were not needed.
    while (next < last && load<u64>(usize(next)) !== own) next += 8;
    store<u32>(state, next);
    if (next >= last) return formOf(from, end);
    code = u32(load<u8>(usize(load<u32>(state, CODES) + (next >>> 3))));
    if (code === OWN_TEXT && u32(load<u8>(recordOf(column), RECORD_TYPE)) === NUMBERED)
      return formOf(from, end);
  }
  const record = load<u32>(state, RECORDS) + code;
  const known = CODE_RECORDS + usize(record) * CODE_RECORD;
  let form = load<u32>(known);
  if (form === 0) {
    form = formOf(from, end);
    if (form === NO_FORM) return form;
    store<u32>(known, form + 1);
    store<u32>(known, formWords, WORDS_OF);
    store<u64>(known, formMarks, MARKS);
    store<u32>(known, formTraits, TRAITS);
    const number = load<u32>(known, NUMBER_AT);
    store<u64>(known, number === 0 ? 0 : markAt(usize(number) - 1, form, from, end), NUMBER_MARK);
    form++;
  } else {
    setForm(load<u32>(known, WORDS_OF), load<u64>(known, MARKS), load<u32>(known, TRAITS));
  }
  valueCode = record;
  numberMark = load<u64>(known, NUMBER_MARK);
  return form - 1;
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
