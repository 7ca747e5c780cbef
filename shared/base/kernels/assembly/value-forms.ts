/**
 * Forms of the values of split lines, for row-classes.ts: the gaps and the words of text of a value. Words with digits do not
 * count, so these two have one form, with two words that may differ:
 *
 *     GET /product/1234 HTTP/1.1        GET /product/97 HTTP/2.0
 *
 * Gaps and words are those of line-words.ts, of the value alone. Whether a word with a digit has a slash is part of the form,
 * because a question mark behind it would then belong to the word.
 */
import { addBytes, K1, K2, mix } from './hash-mix';
import {
  copyOver,
  FORM_RECORD,
  FORM_SLOTS,
  FORM_SLOTS_COUNT,
  FORM_WORDS,
  FORMS,
  KNOWN_SLOTS,
  KNOWN_VALUE,
  KNOWN_VALUES,
  KNOWN_VALUES_COUNT,
  MAX_FORM_WORDS,
  MAX_FORMS,
  MAX_VALUE_WORDS,
  VALUE_WORDS,
} from './split-layout';
import { COLON } from './text-bytes';
import { areEqual } from './text-equality';
import { traitsOf } from './value-traits';
import {
  differencesOf,
  END_MASK,
  FORMS_DIFFER,
  hasSlash,
  isText,
  readWords,
  SLASH_WORD,
  TEXT_WORD,
  wordStop,
} from './value-words';
import { inWord } from './word-bytes';

/** Forms of a value that is one word with a digit. */
export const VALUE: u32 = 0;
export const VALUE_WITH_SLASH: u32 = 1;
/** Form 2 is that of row-classes.ts. */
const FIRST_FORM: u32 = 3;
/** Value with too many words, or one form too many. */
export const NO_FORM: u32 = 0xffffffff;
/** Words with digits that a value may have, so that each has a bit and none is left. */
export const MAX_VARIED: u32 = 63;

/** Words with digits of the latest value, and a bit for each that differs from that of the first value of its form. */
export let formWords: u32 = 0;
export let formMarks: u64 = 0;
/** Number of all words of the latest value, and the bits of value-traits.ts. */
export let formTraits: u32 = 0;

// Layout of a form: hash, address and end of its first value, words with digits, traits, all words and where they are, and the number
// of its text (mined-classes.ts).
const START: usize = 4;
const END: usize = 8;
const WORDS: usize = 12;
const TRAITS: usize = 16;
const COUNT: usize = 20;
const LIST: usize = 24;
export const FORM_TEXT: usize = 28;

// Layout of a known value: address, size, form, words with digits, marks, traits.
const KNOWN_BYTES: usize = 4;
const KNOWN_FORM: usize = 8;
const KNOWN_WORDS: usize = 12;
const KNOWN_MARKS: usize = 16;
const KNOWN_TRAITS: usize = 24;

const SLASH: u8 = 0x2f;
const VALUE_MARK: u64 = 0x2f7;

let forms: u32 = 0;
let knownValues: usize = 0;
/** Words of the first values of all forms. */
let listed: usize = 0;

/** Begins a page. */
export function clearForms(): void {
  memory.fill(FORM_SLOTS, 0, 2 * FORM_SLOTS_COUNT);
  memory.fill(KNOWN_SLOTS, 0, 2 * KNOWN_VALUES_COUNT);
  forms = 0;
  knownValues = 0;
  listed = 0;
}

/** Sets `formWords`, `formMarks` and `formTraits` for a value that is one word with a digit. */
// @inline
export function setWordForm(): void {
  formWords = 1;
  formMarks = 0;
  formTraits = 1;
}

/** Sets what `formOf` sets, for a value whose form is known. */
// @inline
export function setForm(words: u32, marks: u64, traits: u32): void {
  formWords = words;
  formMarks = marks;
  formTraits = traits;
}

/** Returns whether a value is one word of up to 16 digits, hyphens and dots. Its form is then VALUE. */
// @inline
export function isNumeric(from: usize, bytes: usize): bool {
  if (bytes === 0 || bytes > 16) return false;
  const text = v128.load(from);
  const inside: u32 = bytes === 16 ? 0xffff : (1 << u32(bytes)) - 1;
  const digits = bitsBetween(text, 0x30, 10) & inside;
  return digits !== 0 && ((digits | bitsBetween(text, 0x2d, 2)) & inside) === inside;
}

/** Returns the form of a value, and sets `formWords`, `formMarks` and `formTraits`. */
export function formOf(from: usize, end: usize): u32 {
  setWordForm();
  const bytes = end - from;
  if (bytes > 0 && bytes <= 16) {
    const text = v128.load(from);
    const inside: u32 = bytes === 16 ? 0xffff : (1 << u32(bytes)) - 1;
    const digits = bitsBetween(text, 0x30, 10) & inside;
    // Digits, hyphen, dot and slash: most words are numbers.
    if (digits !== 0) {
      const slashes = i8x16.bitmask(i8x16.eq(text, i8x16.splat(SLASH))) & inside;
      const isPlain = (bitsBetween(text, 0x2d, 13) & inside) === inside;
      if (isPlain || ((inWord(text) & inside) === inside && load<u8>(from) !== u8(COLON))) {
        return slashes !== 0 ? VALUE_WITH_SLASH : VALUE;
      }
    }
  }
  const slot = KNOWN_SLOTS + ((slotOf(from, end) & (KNOWN_VALUES_COUNT - 1)) << 1);
  let index = usize(load<u16>(slot));
  let known = KNOWN_VALUES + index * KNOWN_VALUE;
  if (
    index !== 0 &&
    usize(load<u32>(known, KNOWN_BYTES)) === bytes &&
    areLongEqual(usize(load<u32>(known)), from, bytes)
  ) {
    formWords = load<u32>(known, KNOWN_WORDS);
    formMarks = load<u64>(known, KNOWN_MARKS);
    formTraits = load<u32>(known, KNOWN_TRAITS);
    return load<u32>(known, KNOWN_FORM);
  }
  const isOne = bytes > 16 && load<u8>(from) !== u8(COLON) && wordStop(from, end) === end && !isText;
  const form = isOne ? (hasSlash ? VALUE_WITH_SLASH : VALUE) : findForm(from, end);
  if (index === 0) {
    if (knownValues === KNOWN_VALUES_COUNT) return form;
    index = ++knownValues;
    store<u16>(slot, u16(index));
    known = KNOWN_VALUES + index * KNOWN_VALUE;
  }
  store<u32>(known, u32(from));
  store<u32>(known, u32(bytes), KNOWN_BYTES);
  store<u32>(known, form, KNOWN_FORM);
  store<u32>(known, formWords, KNOWN_WORDS);
  store<u64>(known, formMarks, KNOWN_MARKS);
  store<u32>(known, formTraits, KNOWN_TRAITS);
  return form;
}

/** Returns a bit for each of 16 bytes that is one of `count` bytes from `first` on. */
// @inline
function bitsBetween(text: v128, first: u8, count: u8): u32 {
  return i8x16.bitmask(i8x16.lt_u(i8x16.sub(text, i8x16.splat(first)), i8x16.splat(count)));
}

/** Hashes a value. A processor multiplies the words side by side. */
// @inline
function slotOf(from: usize, end: usize): usize {
  let hash = u64(end - from) * K2;
  let at = from;
  for (; at + 8 < end; at += 8) hash = rotl(hash, 23) ^ (load<u64>(at) * K1);
  if (at < end) hash = rotl(hash, 23) ^ ((load<u64>(at) << u64(64 - 8 * (end - at))) * K1);
  return usize(((hash ^ (hash >>> 29)) * K2) >>> 40);
}

// @inline
function areLongEqual(a: usize, b: usize, bytes: usize): bool {
  if (bytes < 16) return areEqual(a, b, bytes);
  const last = bytes - 16;
  let different = v128.xor(v128.load(a + last), v128.load(b + last));
  for (let i: usize = 0; i < last; i += 16) {
    different = v128.or(different, v128.xor(v128.load(a + i), v128.load(b + i)));
  }
  return !v128.any_true(different);
}

/** Does the same as `formOf` for a text that is not one word, and is not likely to occur again. */
export function findForm(from: usize, end: usize): u32 {
  const count = readWords(from, end, VALUE_WORDS);
  if (count === MAX_VALUE_WORDS) return NO_FORM;
  const hash = formHash(from, end, count);
  if (formWords > MAX_VARIED) return NO_FORM;
  let slot = usize(hash) & (FORM_SLOTS_COUNT - 1);
  for (;;) {
    const known = u32(load<u16>(FORM_SLOTS + (slot << 1)));
    if (known === 0) break;
    const own = FORMS + usize(known) * FORM_RECORD;
    if (load<u32>(own) === hash && usize(load<u32>(own, COUNT)) === count) {
      const list = usize(load<u32>(own, LIST));
      formMarks = differencesOf(
        from,
        end,
        usize(load<u32>(own, START)),
        usize(load<u32>(own, END)),
        list,
        count,
      );
      if (formMarks !== FORMS_DIFFER) {
        formTraits = load<u32>(own, TRAITS);
        return known - 1 + FIRST_FORM;
      }
    }
    slot = (slot + 1) & (FORM_SLOTS_COUNT - 1);
  }
  formMarks = 0;
  if (forms === u32(MAX_FORMS) || listed + count > MAX_FORM_WORDS) return NO_FORM;
  const own = FORMS + usize(++forms) * FORM_RECORD;
  const list = FORM_WORDS + (listed << 3);
  memory.copy(list, VALUE_WORDS, count << 3);
  listed += count;
  formTraits = traitsOf(from, end);
  store<u32>(own, hash);
  store<u32>(own, u32(from), START);
  store<u32>(own, u32(end), END);
  store<u32>(own, formWords, WORDS);
  store<u32>(own, formTraits, TRAITS);
  store<u32>(own, u32(count), COUNT);
  store<u32>(own, u32(list), LIST);
  store<u32>(own, 0, FORM_TEXT);
  store<u16>(FORM_SLOTS + (slot << 1), u16(forms));
  return forms - 1 + FIRST_FORM;
}

/** Returns the record of a form that is not one word. */
// @inline
export function recordOfForm(form: u32): usize {
  return FORMS + (usize(form - FIRST_FORM) + 1) * FORM_RECORD;
}

/** Returns the maximum bytes that `putForm` writes. */
export function formBytes(own: usize): usize {
  return 4 + usize(load<u32>(own, END) - load<u32>(own, START)) + (usize(load<u32>(own, COUNT)) << 3);
}

/** Writes the gaps and the words of text of a form, equal for equal ones of any page. Returns their end. */
export function putForm(own: usize, to: usize): usize {
  const count = load<u32>(own, COUNT);
  const list = usize(load<u32>(own, LIST));
  const end = usize(load<u32>(own, END));
  let at = usize(load<u32>(own, START));
  store<u32>(to, count);
  let out = to + 4;
  for (let word = list; word < list + (usize(count) << 3); word += 8) {
    const start = usize(load<u32>(word));
    const stop = load<u32>(word, 4);
    const stopAt = usize(stop & END_MASK);
    const shown = (stop & TEXT_WORD) !== 0 ? stopAt : start;
    store<u32>(out, u32(start - at));
    store<u32>(out, u32(shown - start) | (stop & ~END_MASK), 4);
    copyOver(out + 8, at, shown - at);
    out += 8 + (shown - at);
    at = stopAt;
  }
  copyOver(out, at, end - at);
  return out + (end - at);
}

/** Hashes the value whose words are at VALUE_WORDS without its words with digits, and counts those. */
function formHash(from: usize, end: usize, count: usize): u32 {
  formWords = 0;
  let hash = K2;
  let at = from;
  for (let own = VALUE_WORDS; own < VALUE_WORDS + (count << 3); own += 8) {
    const start = usize(load<u32>(own));
    const stop = load<u32>(own, 4);
    const to = usize(stop & END_MASK);
    if ((stop & TEXT_WORD) !== 0) hash = addBytes(hash, at, to - at);
    else {
      hash = mix(addBytes(hash, at, start - at) ^ (VALUE_MARK + u64(stop & SLASH_WORD)), K2);
      formWords++;
    }
    at = to;
  }
  return u32(addBytes(hash, at, end - at) >>> 32);
}
