/**
 * Classes of rows, for row-classes.ts: by a key, and by the forms of values (value-forms.ts). Of the words that may differ, a class
 * knows those that do.
 */
import { K1, K2, mix } from './hash-mix';
import {
  CLASS_RECORD,
  CLASS_SLOTS,
  CLASS_SLOTS_COUNT,
  CLASS_VALUE,
  CLASS_VALUES,
  CLASS_WORDS,
  CLASSES,
  MAX_CLASS_VALUES,
  MAX_CLASSES,
  ROW_VALUES,
  SPLIT_LINES,
} from './split-layout';
import { areEqual } from './text-equality';
import { formMarks, formWords, MAX_VARIED, VALUE, VALUE_WITH_SLASH } from './value-forms';
import { differences, layWords } from './value-words';

/** Set in a class if mining reads the row. */
export const IS_READ: u32 = 0x80000000;

// Layout of a class: hash, template and level, number of values, address of those of the first row, words that vary, and for
// line-classes.ts the values with others, and if there is only one, where the record of its code is and the words of it.
export const KEY: usize = 4;
export const COUNT: usize = 8;
export const VALUES: usize = 12;
export const VARIED: usize = 16;
export const PENDING: usize = 24;
export const ONLY: usize = 32;
export const ONLY_WORDS: usize = 40;

// Layout of a value: form, words with digits (with those before them in line-classes.ts), a bit for each that differs from that of the
// first value of the form, address and size.
export const WORDS: usize = 4;
export const MARKS: usize = 8;
export const START: usize = 16;
export const BYTES: usize = 20;
const WORDS_MASK: u32 = 0xffff;

let classes: u32 = 0;
/** Values of all classes. */
let values: usize = 0;

// @inline
export function classCount(): u32 {
  return classes;
}

/** Begins a page. */
export function clearClasses(): void {
  memory.fill(CLASS_SLOTS, 0, 2 * CLASS_SLOTS_COUNT);
  classes = 0;
  values = 0;
}

/** Writes a value of the current row. */
// @inline
export function layValue(i: usize, form: u32, from: usize, end: usize): void {
  putValue(ROW_VALUES + i * CLASS_VALUE, form, from, end);
}

// @inline
export function putValue(own: usize, form: u32, from: usize, end: usize): void {
  store<u32>(own, form);
  store<u32>(own, formWords, WORDS);
  store<u64>(own, formMarks, MARKS);
  store<u32>(own, u32(from), START);
  store<u32>(own, u32(end - from), BYTES);
}

/** Returns the class of the row with `count` values at ROW_VALUES, with IS_READ if it is new or there is none. */
export function classOf(key: u32, count: usize): u32 {
  let mixed = mix(K1 ^ u64(key), K2);
  let words: u32 = 0;
  for (let at = ROW_VALUES; at < ROW_VALUES + count * CLASS_VALUE; at += CLASS_VALUE) {
    words += load<u32>(at, WORDS);
    const form = load<u32>(at);
    if (form !== VALUE) mixed = mix(mixed ^ u64(form), K1);
  }
  if (words > MAX_VARIED) return IS_READ;
  const hash = u32(mixed >>> 32);
  let slot = usize(hash) & (CLASS_SLOTS_COUNT - 1);
  for (;;) {
    const known = u32(load<u16>(CLASS_SLOTS + (slot << 1)));
    if (known === 0) break;
    const own = CLASSES + usize(known) * CLASS_RECORD;
    if (load<u32>(own) === hash && load<u32>(own, KEY) === key && hasForms(own, count)) {
      addVaried(own, count);
      return known;
    }
    slot = (slot + 1) & (CLASS_SLOTS_COUNT - 1);
  }
  const own = newClass(slot, hash, key, count);
  if (own === 0) return IS_READ;
  memory.copy(usize(load<u32>(own, VALUES)), ROW_VALUES, count * CLASS_VALUE);
  return classes | IS_READ;
}

/** Writes a class of `count` values, which the caller writes. Returns its address, or 0 if there are too many. */
export function newClass(slot: usize, hash: u32, key: u32, count: usize): usize {
  if (classes === MAX_CLASSES || values + count > MAX_CLASS_VALUES) return 0;
  classes++;
  const own = CLASSES + usize(classes) * CLASS_RECORD;
  store<u32>(own, hash);
  store<u32>(own, key, KEY);
  store<u32>(own, u32(count), COUNT);
  store<u32>(own, u32(CLASS_VALUES + values * CLASS_VALUE), VALUES);
  store<u64>(own, 0, VARIED);
  store<u32>(own, 0, ONLY);
  store<u16>(CLASS_SLOTS + (slot << 1), u16(classes));
  values += count;
  return own;
}

function hasForms(own: usize, count: usize): bool {
  const known = usize(load<u32>(own, VALUES));
  for (let at: usize = 0; at < count * CLASS_VALUE; at += CLASS_VALUE) {
    if (load<u32>(known + at) !== load<u32>(ROW_VALUES + at)) return false;
  }
  return true;
}

/** Adds the words that differ from those of the first row of the class. */
function addVaried(own: usize, count: usize): void {
  const firsts = usize(load<u32>(own, VALUES));
  let varied = load<u64>(own, VARIED);
  let bit: u64 = 0;
  for (let at: usize = 0; at < count * CLASS_VALUE; at += CLASS_VALUE) {
    const value = ROW_VALUES + at;
    const words = load<u32>(value, WORDS);
    if (words === 0) continue;
    const first = firsts + at;
    if (load<u32>(value) <= VALUE_WITH_SLASH) {
      if (((varied >>> bit) & 1) === 0 && !isSameValue(value, first)) varied |= u64(1) << bit;
    } else {
      const marks = load<u64>(value, MARKS);
      const firstMarks = load<u64>(first, MARKS);
      // A word that is the first of its form in both does not differ.
      if ((((marks | firstMarks) << bit) & ~varied) !== 0) {
        varied |= (firstMarks === 0 ? marks : differenceOf(value, first)) << bit;
      }
    }
    bit += u64(words);
  }
  store<u64>(own, varied, VARIED);
}

/** Writes the words of a class that vary to CLASS_WORDS, as offsets in the lines, ascending. Returns their number. */
export function classWords(number: u32): u32 {
  const own = CLASSES + usize(number) * CLASS_RECORD;
  const end = usize(load<u32>(own, VALUES)) + usize(load<u32>(own, COUNT)) * CLASS_VALUE;
  let varied = load<u64>(own, VARIED);
  let to = CLASS_WORDS;
  for (let value = usize(load<u32>(own, VALUES)); value < end && varied !== 0; value += CLASS_VALUE) {
    const words = u64(load<u32>(value, WORDS) & WORDS_MASK);
    to = layWords(startOf(value), endOf(value), varied & ((u64(1) << words) - 1), to);
    varied >>>= words;
  }
  for (let at = CLASS_WORDS; at < to; at += 4) store<u32>(at, load<u32>(at) - u32(SPLIT_LINES));
  return u32(to - CLASS_WORDS) >>> 2;
}

// @inline
function startOf(value: usize): usize {
  return usize(load<u32>(value, START));
}

// @inline
function endOf(value: usize): usize {
  return startOf(value) + usize(load<u32>(value, BYTES));
}

// @inline
function isSameValue(a: usize, b: usize): bool {
  return isValueAt(b, startOf(a), endOf(a));
}

/** Returns whether a value has the same bytes. */
// @inline
export function isValueAt(value: usize, from: usize, end: usize): bool {
  return load<u32>(value, BYTES) === u32(end - from) && areEqual(startOf(value), from, end - from);
}

/** Returns a bit for each word with a digit that differs, of two values of one form. */
export function differenceOf(a: usize, b: usize): u64 {
  return differenceAt(b, startOf(a), endOf(a));
}

/** Does the same for a value that is not in a list. */
export function differenceAt(value: usize, from: usize, end: usize): u64 {
  return differences(from, end, startOf(value), endOf(value));
}
