/**
 * Groups the rows of a split page by what pattern mining sees of them. In JSON and logfmt lines with a message, that is one value: rows
 * of a class have the same template and level, and messages with the same gaps and words of text. Only words with digits differ. So mining reads a few rows of each class instead of all (shared/upkeep/pattern-mining/page-clusters.ts).
 *
 * The page is the one that was split last. The host says which value of each template is the message (CLASS_RULES). Other rows have no
 * class, and so have those in whose values mining might find another message.
 *
 * Pitfall: two messages of a class must be the same to line-words.ts, byte for byte of every gap and word of text. The reverse does not
 * matter, because mining joins classes.
 */
import { NUMBER } from './column-types';
import { addBytes, K1, K2, mix } from './hash-mix';
import {
  CLASS_LEVELS,
  CLASS_RECORD,
  CLASS_RULE,
  CLASS_RULES,
  CLASS_SLOTS,
  CLASS_SLOTS_COUNT,
  CLASSES,
  COLUMN_RECORD,
  COLUMN_RECORDS,
  MAX_CLASSES,
  PIECE_COLUMNS,
  ROW_CLASSES,
  ROW_TEMPLATES,
  SPANS,
  SPLIT_LINES,
  SPLIT_OFFSETS,
  TEMPLATE_RECORD,
  TEMPLATES,
  WORD_CLASSES,
} from './split-layout';
import { COLON, EQUALS, QUOTE } from './text-bytes';
import { MAX_LINE_WORDS, MAX_READ_BYTES } from './word-layout';

/** Bit of WORD_CLASSES, which has those of shared/upkeep/pattern-mining/byte-classes.ts: 0 separates words. */
const DIGIT: u32 = 2;

/** Set in ROW_CLASSES if mining reads the row. */
const IS_READ: u32 = 0x80000000;
/** Value of a rule without a message, and bytes that may begin another message. */
const NONE: u32 = 0xffffffff;

// Layout of a rule: the value that is the message, and the words of the literals before it.
const RULE_WORDS: usize = 4;

// Layout of a class: hash, template and level, first message, number of words that may vary, those that do.
const KEY: usize = 4;
const FIRST_SPAN: usize = 8;
const WORDS: usize = 12;
const VARIED: usize = 16;
const MAX_VARIED: u32 = 63;

// Layout of a template's record (line-templates.ts).
const FIRST_PIECE: usize = 12;
const VARIABLES: usize = 16;

/** Words with digits of the message that was hashed last. */
let words: u32 = 0;

/** Writes the class of each row to ROW_CLASSES: its number from 1 on, or 0, and IS_READ. Returns the number of classes. */
export function classRows(rows: u32): u32 {
  memory.fill(CLASS_SLOTS, 0, 4 * CLASS_SLOTS_COUNT);
  let classes: u32 = 0;
  let span: usize = 0;
  for (let row: usize = 0; row < usize(rows); row++) {
    const template = usize(load<u16>(ROW_TEMPLATES + (row << 1)));
    let found: u32 = IS_READ;
    if (template === 0) span++;
    else {
      const own = TEMPLATES + template * TEMPLATE_RECORD;
      const rule = CLASS_RULES + template * CLASS_RULE;
      const message = load<u32>(rule);
      if (message !== NONE && isMessage(row, rule, span, usize(load<u32>(own, FIRST_PIECE)))) {
        const key = u32(template) | (u32(load<u8>(CLASS_LEVELS + row)) << 16);
        found = classOf(key, span + usize(message), classes);
        classes = max(classes, found & ~IS_READ);
      }
      span += usize(load<u32>(own, VARIABLES));
    }
    store<u32>(ROW_CLASSES + (row << 2), found);
  }
  return classes;
}

/** Returns whether mining reads the message, and all of it: nothing before it is one, and it is within the limits of mining. */
function isMessage(row: usize, rule: usize, span: usize, piece: usize): bool {
  const message = usize(load<u32>(rule));
  const start = usize(load<u32>(SPLIT_OFFSETS + (row << 2)));
  // With the quote behind it.
  if (spanEnd(span + message) + 1 - SPLIT_LINES - start > MAX_READ_BYTES) return false;
  let before = load<u32>(rule, RULE_WORDS);
  for (let i: usize = 0; i < message; i++) {
    const column = usize(load<u16>(PIECE_COLUMNS + ((piece + i) << 1)));
    if (load<u8>(COLUMN_RECORDS + column * COLUMN_RECORD) === NUMBER) continue;
    const signs = signsIn(spanStart(span + i), spanEnd(span + i));
    if (signs === NONE) return false;
    before += signs;
  }
  return before < MAX_LINE_WORDS;
}

/**
 * Returns the number of bytes that are not letters or digits, at least as many as words but one. Returns NONE if one of them may begin
 * or end a message: a quote, an equals sign, a line feed.
 */
function signsIn(from: usize, end: usize): u32 {
  let signs: u32 = 0;
  for (let at = from; at < end; at += 16) {
    const text = v128.load(at);
    const letter = i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61));
    const digit = i8x16.sub(text, i8x16.splat(0x30));
    const plain = v128.or(i8x16.lt_u(letter, i8x16.splat(26)), i8x16.lt_u(digit, i8x16.splat(10)));
    const quote = i8x16.eq(text, i8x16.splat(u8(QUOTE)));
    const equals = i8x16.eq(text, i8x16.splat(u8(EQUALS)));
    const feed = i8x16.eq(text, i8x16.splat(0x0a));
    const inside: u32 = end - at < 16 ? (1 << u32(end - at)) - 1 : 0xffff;
    if ((i8x16.bitmask(v128.or(v128.or(quote, equals), feed)) & inside) !== 0) return NONE;
    signs += popcnt(~i8x16.bitmask(plain) & inside);
  }
  return signs;
}

/** Returns the class of a message, with IS_READ if it is new or a word varies for the first time. */
function classOf(key: u32, span: usize, classes: u32): u32 {
  const from = spanStart(span);
  const end = spanEnd(span);
  const mixed = mix(formHash(from, end) ^ u64(key), K1);
  const hash = u32(mixed >>> 32);
  let slot = usize(hash) & (CLASS_SLOTS_COUNT - 1);
  for (;;) {
    const known = load<u32>(CLASS_SLOTS + (slot << 2));
    if (known === 0) break;
    const own = CLASSES + usize(known) * CLASS_RECORD;
    if (load<u32>(own) === hash && load<u32>(own, KEY) === key) {
      const first = usize(load<u32>(own, FIRST_SPAN));
      const marks = differences(from, end, spanStart(first), spanEnd(first), load<u32>(own, WORDS));
      if (marks !== FORMS_DIFFER) {
        const varied = load<u64>(own, VARIED);
        if ((marks & ~varied) === 0) return known;
        store<u64>(own, varied | marks, VARIED);
        return known | IS_READ;
      }
    }
    slot = (slot + 1) & (CLASS_SLOTS_COUNT - 1);
  }
  if (classes === MAX_CLASSES || words > MAX_VARIED) return IS_READ;
  const own = CLASSES + (usize(classes) + 1) * CLASS_RECORD;
  store<u32>(own, hash);
  store<u32>(own, key, KEY);
  store<u32>(own, u32(span), FIRST_SPAN);
  store<u32>(own, words, WORDS);
  store<u64>(own, 0, VARIED);
  store<u32>(CLASS_SLOTS + (slot << 2), classes + 1);
  return (classes + 1) | IS_READ;
}

const VALUE_MARK: u64 = 0x2f7;

/** No set of words, because a class has fewer than 64. */
const FORMS_DIFFER: u64 = 1 << 63;

/**
 * Compares two messages, of which the second has `count` words with digits. Returns a bit for each of them that differs, or
 * FORMS_DIFFER if anything else does.
 */
function differences(from: usize, end: usize, otherFrom: usize, otherEnd: usize, count: u32): u64 {
  if (end - from === otherEnd - otherFrom && sameBytes(from, otherFrom, end - from)) return 0;
  if (count === 0) return FORMS_DIFFER;
  let marks: u64 = 0;
  let bit: u64 = 0;
  let at = from;
  let other = otherFrom;
  while (at < end && other < otherEnd) {
    if (!beginsWord(at) || !beginsWord(other)) {
      if (load<u8>(at) !== load<u8>(other)) return FORMS_DIFFER;
      at++;
      other++;
      continue;
    }
    const stop = wordStop(at, end);
    const wasText = isText;
    const otherStop = wordStop(other, otherEnd);
    if (wasText !== isText) return FORMS_DIFFER;
    const isSame = stop - at === otherStop - other && sameBytes(at, other, stop - at);
    if (!isText) {
      if (!isSame) marks |= u64(1) << bit;
      bit++;
    } else if (!isSame) return FORMS_DIFFER;
    at = stop;
    other = otherStop;
  }
  return at === end && other === otherEnd ? marks : FORMS_DIFFER;
}

/** Whether the word that `wordStop` found has no digit. */
let isText = false;

/** Returns the end of the word at `at`. */
function wordStop(at: usize, end: usize): usize {
  let kinds: u32 = 0;
  let stop = at;
  for (; stop < end; stop++) {
    const kind = kindOf(stop);
    if (kind === 0) break;
    kinds |= kind;
  }
  isText = (kinds & DIGIT) === 0;
  return stop;
}

/** Hashes a message without its words with digits, and counts those. A message without a digit is hashed as it is. */
function formHash(from: usize, end: usize): u64 {
  words = 0;
  if (!hasDigit(from, end)) return addBytes(K1, from, end - from);
  let hash = K2;
  let at = from;
  while (at < end) {
    if (!beginsWord(at)) {
      hash = mix(hash ^ u64(load<u8>(at)), K1);
      at++;
      continue;
    }
    const stop = wordStop(at, end);
    if (isText) hash = addBytes(hash, at, stop - at);
    else {
      hash = mix(hash ^ VALUE_MARK, K2);
      words++;
    }
    at = stop;
  }
  return hash;
}

// @inline
function kindOf(at: usize): u32 {
  return u32(load<u8>(WORD_CLASSES + usize(load<u8>(at))));
}

/** Returns whether a word may begin with the byte. */
// @inline
function beginsWord(at: usize): bool {
  return kindOf(at) !== 0 && load<u8>(at) !== u8(COLON);
}

function hasDigit(from: usize, end: usize): bool {
  for (let at = from; at < end; at += 16) {
    const digits = i8x16.lt_u(i8x16.sub(v128.load(at), i8x16.splat(0x30)), i8x16.splat(10));
    const bits = i8x16.bitmask(digits);
    if (bits !== 0) return at + usize(ctz(bits)) < end;
  }
  return false;
}

function sameBytes(a: usize, b: usize, bytes: usize): bool {
  let i: usize = 0;
  for (; i + 8 < bytes; i += 8) if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  // Shift out the bytes that were loaded after the last one.
  return i === bytes || (load<u64>(a + i) ^ load<u64>(b + i)) << u64(64 - 8 * (bytes - i)) === 0;
}

// @inline
function spanStart(span: usize): usize {
  return SPLIT_LINES + usize(load<u32>(SPANS + (span << 3)));
}

// @inline
function spanEnd(span: usize): usize {
  return spanStart(span) + usize(load<u32>(SPANS + (span << 3), 4));
}
