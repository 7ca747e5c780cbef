/**
 * Classes of lines by all of their values, for row-classes.ts. Only the values of a plan (line-plans.ts) that differ in form are looked at
 * in each row. The others are compared with those of the first row of the class until all of their words differ.
 */
import {
  differenceAt,
  IS_READ,
  isValueAt,
  KEY,
  MARKS,
  newClass,
  ONLY,
  ONLY_WORDS,
  PENDING,
  putValue,
  VALUES,
  VARIED,
  WORDS,
} from './class-table';
import {
  CODE_MARKS,
  CODE_NUMBER,
  CODE_TRAITS,
  CODE_WORDS,
  formOfColumn,
  recordOfValue,
} from './column-forms';
import { K1, K2, mix } from './hash-mix';
import {
  beginsWithValue,
  lookedAddress,
  lookedColumn,
  lookedInPlan,
  lookedInRow,
  lookedOfPlan,
  NOT_LOOKED,
  nextLooked,
  numberInRow,
  numberLooked,
  valuesOfPlan,
  wordsBefore,
} from './line-plans';
import {
  CLASS_CODES,
  CLASS_RECORD,
  CLASS_SLOTS,
  CLASS_SLOTS_COUNT,
  CLASS_VALUE,
  CLASS_VALUES,
  CLASSES,
  CODE_RECORD,
  COMBINED,
  COMBINED_COUNT,
  COMBINED_RECORD,
  COMBINED_SHIFT,
  PIECE_COLUMNS,
  ROW_CODES,
  ROW_FORMS,
  SPANS,
  SPLIT_LINES,
  VALUE_RECORDS,
} from './split-layout';
import { MAX_VARIED, setForm, setWordForm, VALUE, VALUE_WITH_SLASH } from './value-forms';
import { HAS_SIGNS, IS_LONG, WORDS_MASK } from './value-traits';
import { MAX_LINE_WORDS } from './word-layout';

/** Maximum values to look at whose combination of forms is remembered with its class. */
const MAX_COMBINED: usize = 4;
// Layout of a combination: forms plus 1, key, class.
const COMBINED_KEY: usize = 8;
const COMBINED_CLASS: usize = 12;

// Words with digits of a value of a class, and those of the values before it.
const OWN_WORDS: u32 = 0xff;
const BEFORE: u32 = 16;

export function clearCombined(): void {
  memory.fill(COMBINED, 0, COMBINED_RECORD * COMBINED_COUNT);
}

/**
 * Returns the class of a row, with IS_READ if it is new or there is none.
 * @param quoted a bit for each value in quotes
 * @param span number of the row's first span
 * @param piece number of the first piece of its template
 */
export function classOfLine(plan: usize, key: u32, quoted: u64, span: usize, piece: usize): u32 {
  const count = lookedOfPlan(plan);
  const spans = SPANS + (span << 3);
  /** Forms of the values, 2 bytes each. */
  let forms: u64 = 0;
  let looked = lookedAddress(plan);
  for (let i: usize = 0; i < count; i++) {
    const value = spans + (lookedInRow(looked) << 3);
    const record = recordOfValue(lookedColumn(looked), value, VALUE_RECORDS + i * CODE_RECORD);
    const known = load<u32>(record);
    if (known === 0) return IS_READ;
    forms = (forms << 16) | u64(known);
    store<u32>(ROW_CODES + (i << 2), u32(record));
    looked = nextLooked(looked);
  }
  if (count > MAX_COMBINED) return classOfForms(plan, key, quoted, spans, piece);
  const slot = usize(((forms ^ u64(key)) * K1) >>> COMBINED_SHIFT);
  const combined = COMBINED + slot * COMBINED_RECORD;
  if (load<u64>(combined) === forms && load<u32>(combined, COMBINED_KEY) === key) {
    const known = load<u32>(combined, COMBINED_CLASS);
    const own = CLASSES + usize(known) * CLASS_RECORD;
    if (mayVary(own)) addVaried(own, plan, spans);
    return known;
  }
  const found = classOfForms(plan, key, quoted, spans, piece);
  if (found !== IS_READ) {
    store<u64>(combined, forms);
    store<u32>(combined, key, COMBINED_KEY);
    store<u32>(combined, found & ~IS_READ, COMBINED_CLASS);
  }
  return found;
}

/** Returns the class of a row by the forms of the records at ROW_CODES. */
function classOfForms(plan: usize, key: u32, quoted: u64, spans: usize, piece: usize): u32 {
  const count = lookedOfPlan(plan);
  let inQuotes = quoted;
  let words: u32 = 0;
  let mixed = mix(K1 ^ u64(key), K2);
  let looked = lookedAddress(plan);
  for (let i: usize = 0; i < count; i++) {
    const record = usize(load<u32>(ROW_CODES + (i << 2)));
    const traits = load<u32>(record, CODE_TRAITS);
    const own = lookedInRow(looked);
    const isQuoted = ((inQuotes >>> u64(own)) & 1) !== 0;
    let form = load<u32>(record) - 1;
    words += traits & WORDS_MASK;
    if (form <= VALUE_WITH_SLASH) {
      if (isQuoted) form = VALUE;
    } else if (isQuoted && (traits & IS_LONG) !== 0 && wordsBefore(looked) + words < MAX_LINE_WORDS)
      form = VALUE;
    else if ((traits & HAS_SIGNS) !== 0 || (own === 0 && beginsWithValue(plan))) inQuotes = 0;
    if (form !== VALUE) mixed = mix(mixed ^ u64(form), K1);
    store<u32>(ROW_FORMS + (i << 2), form);
    looked = nextLooked(looked);
  }
  const hash = u32(mixed >>> 32);
  let slot = usize(hash) & (CLASS_SLOTS_COUNT - 1);
  for (;;) {
    const known = u32(load<u16>(CLASS_SLOTS + (slot << 1)));
    if (known === 0) break;
    const own = CLASSES + usize(known) * CLASS_RECORD;
    if (load<u32>(own) === hash && load<u32>(own, KEY) === key && hasForms(own, plan, count)) {
      if (mayVary(own)) addVaried(own, plan, spans);
      return known;
    }
    slot = (slot + 1) & (CLASS_SLOTS_COUNT - 1);
  }
  return addClass(slot, hash, key, plan, spans, piece);
}

// @inline
function hasForms(own: usize, plan: usize, count: usize): bool {
  const values = usize(load<u32>(own, VALUES));
  let looked = lookedAddress(plan);
  for (let at = ROW_FORMS; at < ROW_FORMS + (count << 2); at += 4) {
    if (load<u32>(values + lookedInPlan(looked) * CLASS_VALUE) !== load<u32>(at)) return false;
    looked = nextLooked(looked);
  }
  return true;
}

function addClass(slot: usize, hash: u32, key: u32, plan: usize, spans: usize, piece: usize): u32 {
  const count = valuesOfPlan(plan);
  let words: u32 = 0;
  for (let i: usize = 0; i < count; i++) words += wordsOf(plan, i);
  if (words > MAX_VARIED) return IS_READ;
  const own = newClass(slot, hash, key, count);
  if (own === 0) return IS_READ;
  const values = usize(load<u32>(own, VALUES));
  let pending: u64 = 0;
  let before: u32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const to = values + i * CLASS_VALUE;
    const looked = numberLooked(plan, i);
    const number = numberInRow(plan, i);
    let form = VALUE;
    let code: usize = 0;
    setWordForm();
    if (looked === NOT_LOOKED) form = formOfColumn(usize(load<u16>(PIECE_COLUMNS + ((piece + number) << 1))));
    else {
      form = load<u32>(ROW_FORMS + usize(looked << 2));
      code = usize(load<u32>(ROW_CODES + usize(looked << 2)));
      // Any value of the code may have been the first one.
      if (form > VALUE_WITH_SLASH) setForm(load<u32>(code, CODE_WORDS), load<u64>(code, CODE_MARKS), 0);
    }
    putValue(to, form, startOf(spans, number), endOf(spans, number));
    store<u32>(codeOf(to), u32(code));
    const some = load<u32>(to, WORDS);
    if (some > 0) pending |= u64(1) << u64(i);
    store<u32>(to, some | (before << BEFORE), WORDS);
    before += some;
  }
  store<u64>(own, pending, PENDING);
  return u32((own - CLASSES) / CLASS_RECORD) | IS_READ;
}

/** Returns the words with digits of a value of the current row. */
function wordsOf(plan: usize, value: usize): u32 {
  const looked = numberLooked(plan, value);
  if (looked === NOT_LOOKED || load<u32>(ROW_FORMS + usize(looked << 2)) <= VALUE_WITH_SLASH) return 1;
  return load<u32>(usize(load<u32>(ROW_CODES + usize(looked << 2))), CODE_WORDS);
}

/** Returns whether a word of the row may differ that does not vary yet. */
// @inline
function mayVary(own: usize): bool {
  if (load<u64>(own, PENDING) === 0) return false;
  const only = usize(load<u32>(own, ONLY));
  return only === 0 || (load<u64>(usize(load<u32>(only)), CODE_MARKS) & load<u64>(own, ONLY_WORDS)) !== 0;
}

/** Adds the words that differ from those of the first row of the class. */
function addVaried(own: usize, plan: usize, spans: usize): void {
  const values = usize(load<u32>(own, VALUES));
  let varied = load<u64>(own, VARIED);
  let pending = load<u64>(own, PENDING);
  store<u32>(own, 0, ONLY);
  for (let rest = pending; rest !== 0; rest &= rest - 1) {
    const i = usize(ctz(rest));
    const first = values + i * CLASS_VALUE;
    const words = load<u32>(first, WORDS);
    const before = u64(words >>> BEFORE);
    const number = numberInRow(plan, i);
    if (load<u32>(first) <= VALUE_WITH_SLASH) {
      if (isValueAt(first, startOf(spans, number), endOf(spans, number))) continue;
      varied |= u64(1) << before;
      pending &= ~(u64(1) << u64(i));
      continue;
    }
    const all = (u64(1) << u64(words & OWN_WORDS)) - 1;
    const missing = all & ~(varied >>> before);
    const code = load<u32>(ROW_CODES + usize(numberLooked(plan, i) << 2));
    // All words that may differ do so already.
    if (((load<u64>(usize(code), CODE_MARKS) | load<u64>(first, MARKS)) & missing) === 0) {
      if (i === usize(ctz(pending)) && (pending & (pending - 1)) === 0) {
        store<u32>(own, u32(ROW_CODES) + (numberLooked(plan, i) << 2), ONLY);
        store<u64>(own, missing, ONLY_WORDS);
      }
      continue;
    }
    if (
      code === load<u32>(codeOf(first)) &&
      usize(code) < VALUE_RECORDS &&
      (load<u64>(usize(code), CODE_NUMBER) & missing) === 0
    )
      continue;
    const different = differenceAt(first, startOf(spans, number), endOf(spans, number));
    varied |= different << before;
    if ((missing & ~different) === 0) pending &= ~(u64(1) << u64(i));
  }
  store<u64>(own, varied, VARIED);
  store<u64>(own, pending, PENDING);
}

/** Returns the address of the code of a value of a class. */
// @inline
function codeOf(value: usize): usize {
  return CLASS_CODES + ((value - CLASS_VALUES) / CLASS_VALUE) * 4;
}

// @inline
function startOf(spans: usize, i: usize): usize {
  return SPLIT_LINES + usize(load<u32>(spans + (i << 3)));
}

// @inline
function endOf(spans: usize, i: usize): usize {
  return startOf(spans, i) + usize(load<u32>(spans + (i << 3), 4));
}
