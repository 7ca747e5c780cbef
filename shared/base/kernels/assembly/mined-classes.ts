/**
 * Classes of earlier pages, for row-classes.ts. A class is the same as one of an earlier page if its level, its template and the forms of
 * its values are. Mining needs no row of it unless words vary that were equal in all rows of the earlier pages:
 *
 *     page 1    job 1 done    job 2 done        read: a word varies
 *     page 2    job 3 done    job 4 done        not read
 */
import {
  BYTES,
  COUNT,
  differenceOf,
  IS_READ,
  isValueAt,
  KEY,
  PENDING,
  START,
  VALUES,
  VARIED,
  WORDS,
} from './class-table';
import { firstSpan } from './column-contexts';
import { formOfColumn, ONE_VALUE } from './column-forms';
import {
  clearTexts,
  dataOfText,
  freeBytes,
  isNewText,
  keepBytes,
  NO_TEXT,
  numberOfText,
  setDataOfText,
  textSpace,
} from './mined-texts';
import {
  CLASS_RECORD,
  CLASS_RULE,
  CLASS_RULES,
  CLASS_VALUE,
  CLASSES,
  copyOver,
  FIRST_PIECE_OF,
  MAX_TEMPLATES,
  MINED_CLASSES,
  PIECE_COLUMNS,
  PIECE_LENGTHS,
  SORTED_SPANS,
  TEMPLATE_BYTES_OF,
  TEMPLATE_RECORD,
  TEMPLATE_TEXT_OF,
  TEMPLATE_TEXTS,
  TEMPLATES,
  VARIABLES_OF,
} from './split-layout';
import { FORM_TEXT, formBytes, putForm, recordOfForm, VALUE_WITH_SLASH } from './value-forms';
import { bytesOf, startOf } from './value-spans';

/** Maximum classes of a page that are looked for. More are those of free text, which do not occur again. */
const MAX_SOUGHT: u32 = 2048;
/** Value of a rule without a message. */
const NO_MESSAGE: u32 = 0xffffffff;
/** Number of a form that is one word, plus the form. */
const ONE_WORD: u32 = 0x10000;
/** Words with digits of a value, below those of the values before it. */
const OWN_WORDS: u32 = 0xff;

// Layout of what is known of a class: words that vary, then the values of the first row, with their texts behind them. No word has the
// bit of a class that was not read yet.
const NOT_MINED: u64 = 1 << 63;
const FIRST_VALUES: usize = 8;

/** Forgets all classes, because mining begins with none. */
export function forgetClasses(): void {
  clearTexts();
}

/** Begins a page. */
export function beginMined(): void {
  memory.fill(TEMPLATE_TEXTS, 0, 4 * MAX_TEMPLATES);
}

/** Looks for a new class of the page. In a known one, the words vary that did before, so rows are compared for the others only. */
export function meetClass(number: u32): void {
  const own = CLASSES + usize(number) * CLASS_RECORD;
  const text = number > MAX_SOUGHT ? NO_TEXT : textOfClass(own);
  const known = text === NO_TEXT ? usize(0) : dataOfText(text);
  store<u32>(MINED_CLASSES + (usize(number) << 2), known === 0 ? 0 : text);
  if (known !== 0 && load<u64>(known) !== NOT_MINED) addKnown(own, known);
}

/**
 * Writes the number of each class of the page to MINED_CLASSES: the same for the same class of any page, or 0. IS_READ is added if
 * mining must read its first row, because the class is new or other words vary.
 */
export function endMined(count: u32): void {
  for (let number: u32 = 1; number <= count; number++) {
    const at = MINED_CLASSES + (usize(number) << 2);
    const text = load<u32>(at);
    const varied = load<u64>(CLASSES + usize(number) * CLASS_RECORD, VARIED);
    const known = text === 0 ? usize(0) : dataOfText(text);
    if (known !== 0 && load<u64>(known) === varied) continue;
    if (known !== 0) store<u64>(known, varied);
    store<u32>(at, text | IS_READ);
  }
}

/** Returns the number of a class' text, and keeps the first row of a new one. */
function textOfClass(own: usize): u32 {
  const key = load<u32>(own, KEY);
  const template = textOfTemplate(usize(key & 0xffff));
  if (template === NO_TEXT) return NO_TEXT;
  const values = usize(load<u32>(own, VALUES));
  const end = values + usize(load<u32>(own, COUNT)) * CLASS_VALUE;
  // Before the text of the class, because those of forms are written to the same memory.
  for (let value = values; value < end; value += CLASS_VALUE)
    if (textOfForm(load<u32>(value)) === NO_TEXT) return NO_TEXT;
  let to = textSpace(8 + ((end - values) / CLASS_VALUE) * 4);
  store<u32>(to, key >>> 16);
  store<u32>(to, template, 4);
  to += 8;
  for (let value = values; value < end; value += CLASS_VALUE, to += 4)
    store<u32>(to, textOfForm(load<u32>(value)));
  const text = numberOfText(to);
  if (text !== NO_TEXT && isNewText) keepClass(own, text);
  return text;
}

/** Returns the number of a form's text, or a larger one if it is one word. */
function textOfForm(form: u32): u32 {
  if (form <= VALUE_WITH_SLASH) return ONE_WORD + form;
  const own = recordOfForm(form);
  const known = load<u32>(own, FORM_TEXT);
  if (known !== 0) return known;
  const to = textSpace(formBytes(own));
  const number = to === 0 ? NO_TEXT : numberOfText(putForm(own, to));
  store<u32>(own, number, FORM_TEXT);
  return number;
}

/**
 * Returns the number of a template's text: its bytes, where its values are, which one is its message, and the values that are the same in
 * all rows if mining sees them.
 */
function textOfTemplate(template: usize): u32 {
  if (template === 0) return 0;
  const known = load<u32>(TEMPLATE_TEXTS + (template << 2));
  if (known !== 0) return known;
  const number = learnTemplate(template);
  store<u32>(TEMPLATE_TEXTS + (template << 2), number);
  return number;
}

function learnTemplate(template: usize): u32 {
  const own = TEMPLATES + template * TEMPLATE_RECORD;
  const message = load<u32>(CLASS_RULES + template * CLASS_RULE);
  const values = usize(load<u32>(own, VARIABLES_OF));
  const piece = usize(load<u32>(own, FIRST_PIECE_OF));
  const lengths = (values + 1) << 1;
  const bytes = usize(load<u32>(own, TEMPLATE_BYTES_OF));
  const start = textSpace(8 + lengths + bytes);
  if (start === 0) return NO_TEXT;
  store<u32>(start, message);
  store<u32>(start, u32(values), 4);
  let to = start + 8;
  memory.copy(to, PIECE_LENGTHS + (piece << 1), lengths);
  to += lengths;
  memory.copy(to, usize(load<u32>(own, TEMPLATE_TEXT_OF)), bytes);
  to += bytes;
  for (let i: usize = 0; i < values && message === NO_MESSAGE; i++) {
    const column = usize(load<u16>(PIECE_COLUMNS + ((piece + i) << 1)));
    if (formOfColumn(column) !== ONE_VALUE) continue;
    const span = SORTED_SPANS + (firstSpan(column) << 3);
    const length = bytesOf(span, 0);
    if (textSpace(to - start + 8 + length) === 0) return NO_TEXT;
    store<u32>(to, u32(i));
    store<u32>(to, u32(length), 4);
    memory.copy(to + 8, startOf(span, 0), length);
    to += 8 + length;
  }
  return numberOfText(to);
}

/** Keeps the first row of a new class, if there is memory for it. */
function keepClass(own: usize, number: u32): void {
  const values = usize(load<u32>(own, VALUES));
  const size = usize(load<u32>(own, COUNT)) * CLASS_VALUE;
  let bytes: usize = 0;
  for (let value = values; value < values + size; value += CLASS_VALUE)
    bytes += usize(load<u32>(value, BYTES));
  const to = freeBytes(FIRST_VALUES + size + bytes);
  if (to === 0) return;
  store<u64>(to, NOT_MINED);
  memory.copy(to + FIRST_VALUES, values, size);
  let text = to + FIRST_VALUES + size;
  for (let value = to + FIRST_VALUES; value < to + FIRST_VALUES + size; value += CLASS_VALUE) {
    const length = usize(load<u32>(value, BYTES));
    copyOver(text, usize(load<u32>(value, START)), length);
    store<u32>(value, u32(text), START);
    text += length;
  }
  keepBytes(text);
  setDataOfText(number, to);
}

/** Adds the words of a known class that vary, and those that differ from its first row, to a class of the page. */
function addKnown(own: usize, known: usize): void {
  let varied = load<u64>(known);
  let pending: u64 = 0;
  let bit: u64 = 0;
  const values = usize(load<u32>(own, VALUES));
  const count = usize(load<u32>(own, COUNT));
  for (let i: usize = 0; i < count; i++) {
    const value = values + i * CLASS_VALUE;
    const first = known + FIRST_VALUES + i * CLASS_VALUE;
    const words = u64(load<u32>(value, WORDS) & OWN_WORDS);
    const all = (u64(1) << words) - 1;
    if ((all & ~(varied >>> bit)) !== 0 && !areSame(value, first)) {
      varied |= (load<u32>(value) <= VALUE_WITH_SLASH ? u64(1) : differenceOf(value, first)) << bit;
    }
    if ((all & ~(varied >>> bit)) !== 0) pending |= u64(1) << u64(i);
    bit += words;
  }
  store<u64>(own, varied, VARIED);
  store<u64>(own, pending, PENDING);
}

// @inline
function areSame(value: usize, first: usize): bool {
  const start = usize(load<u32>(value, START));
  return isValueAt(first, start, start + usize(load<u32>(value, BYTES)));
}
