/**
 * Splits lines into words and the gaps between them, for pattern mining (shared/upkeep/pattern-mining). Words
 * are runs of bits in a bitmap. Between words, only bytes with a meaning are read.
 *
 * In JSON and logfmt lines with a message, only the message is read. A long text in quotes or brackets
 * becomes one word.
 */
import { bitsFrom, isSet, LOOK_BITS, nextClear } from './bits';
import { clearRepeats, findRepeated } from './line-repeats';
import { findMessage, messageEnd, messageField, messageStart } from './message-search';
import {
  endOfLogfmtMessage,
  endOfQuoted,
  isMessageKey,
  messageBehindKey,
  QUOTE,
  SPACE,
} from './message-text';
import { clearMarks, markWords } from './word-bytes';
import { hashLineOfWords, hashOfWord } from './word-hashes';
import {
  DIGITS_MAP,
  IN_WORD,
  MAX_GROUP_WORDS,
  MAX_LINE_WORDS,
  MAX_LIST_WORDS,
  MAX_READ_BYTES,
  SIGNS_MAP,
  WORD_ANY,
  WORD_ENDS,
  WORD_FIRST,
  WORD_HASHES,
  WORD_KINDS,
  WORD_LINES,
  WORD_OFFSETS,
  WORD_STARTS,
  WORD_TEXT,
  WORD_VALUE,
  WORDS_PER_LINE,
} from './word-layout';

const NEWLINE: u8 = 0x0a;
const OPEN_PARENTHESIS: u8 = 0x28;
const SLASH: u8 = 0x2f;
const COLON: u8 = 0x3a;
const EQUALS: u8 = 0x3d;
const QUESTION: u8 = 0x3f;
const OPEN_BRACKET: u8 = 0x5b;
const OPEN_BRACE: u8 = 0x7b;
/** Byte that forms a placeholder if it is a whole word. */
const PLACEHOLDER: u8 = 0xff;

/** Marks the absence of an offset in a line. */
const NONE: usize = ~usize(0);

/** Words of the current line, and the index of its first word. */
let first: u32 = 0;
let count: u32 = 0;

/**
 * Reads lines between the `rows + 1` offsets at WORD_OFFSETS, until the list of words is full. Returns the
 * number of lines.
 */
export function readLineWords(rows: u32): u32 {
  clearMarks();
  clearRepeats();
  first = 0;
  let row: u32 = 0;
  for (; row < rows && first + WORDS_PER_LINE <= MAX_LIST_WORDS; row++) {
    const own = usize(row) << 2;
    const from = usize(load<u32>(WORD_OFFSETS + own));
    const to = usize(load<u32>(WORD_OFFSETS + own, 4));
    store<u32>(WORD_FIRST + own, first);
    count = 0;
    if (from < to) readLine(from, to);
    hashLineOfWords(usize(row), first, count, WORD_LINES + from, WORD_LINES + to);
    findRepeated(usize(row), first, count);
    first += count;
  }
  store<u32>(WORD_FIRST + (usize(row) << 2), first);
  return row;
}

/** Reads a byte by offset from WORD_LINES. Only the list of words contains addresses. */
// @inline
function byteAt(at: usize): u8 {
  return load<u8>(WORD_LINES + at);
}

// @inline
function startOf(word: u32): usize {
  return usize(load<u32>(WORD_STARTS + (usize(first + word) << 2))) - WORD_LINES;
}

// @inline
function endOf(word: u32): usize {
  return usize(load<u32>(WORD_ENDS + (usize(first + word) << 2))) - WORD_LINES;
}

function readLine(from: usize, to: usize): void {
  if (findMessage(from, to)) {
    readMessage(from, messageField, messageStart, messageEnd, to);
    return;
  }
  const limit = min(to, from + MAX_READ_BYTES);
  markWords(from, limit);
  const isJson = byteAt(from) === OPEN_BRACE;
  let isLogfmt = false;
  let quoteAt = NONE;
  let quoteWords: u32 = 0;
  let bracketAt = NONE;
  let bracketWords: u32 = 0;
  let closing: u8 = 0;
  let at = from;
  while (at < limit) {
    const bits = bitsFrom(IN_WORD, at) | bitsFrom(SIGNS_MAP, at);
    if (bits === 0) {
      at = min(at + LOOK_BITS, limit);
      continue;
    }
    at = min(at + usize(ctz(bits)), limit);
    if (at === limit) break;
    const byte = byteAt(at);
    if (byte === COLON) {
      at++;
      continue;
    }
    if (isSet(IN_WORD, at)) {
      if (count >= MAX_LINE_WORDS) break;
      const next = readWord(at, limit, to);
      if (next === NONE) break;
      at = next;
      continue;
    }
    const touchesWord = count > 0 && endOf(count - 1) === at;
    if (byte === QUOTE) {
      if (isJson && touchesWord && isMessageKey(startOf(count - 1), at)) {
        const text = messageBehindKey(startOf(count - 1), at, to);
        if (text !== 0) {
          readMessage(from, startOf(count - 1) - 1, text, endOfQuoted(text, to), to);
          return;
        }
      }
      if (quoteAt !== NONE) {
        if (shorten(quoteWords, quoteAt + 1, at, MAX_GROUP_WORDS)) bracketAt = NONE;
        quoteAt = NONE;
      } else {
        quoteAt = at;
        quoteWords = count;
      }
    } else if (byte === OPEN_BRACKET || byte === OPEN_PARENTHESIS) {
      bracketAt = at;
      bracketWords = count;
      closing = byte === OPEN_BRACKET ? 0x5d : 0x29;
    } else if (byte === closing && bracketAt !== NONE) {
      const most = areValues(bracketWords) ? 1 : MAX_GROUP_WORDS;
      if (shorten(bracketWords, bracketAt + 1, at, most) && quoteAt !== NONE && quoteAt > bracketAt)
        quoteAt = NONE;
      bracketAt = NONE;
    } else if (byte === EQUALS && touchesWord) {
      if (count === 1 && startOf(0) === from) isLogfmt = !isJson;
      const key = startOf(count - 1);
      if (isLogfmt && isMessageKey(key, at)) {
        const end = endOfLogfmtMessage(at + 1, to);
        if (end !== 0 && (key === from || byteAt(key - 1) === SPACE)) {
          readMessage(from, key === from ? key : key - 1, at + 1, end, to);
          return;
        }
        isLogfmt = false;
      }
    }
    at++;
    // Text after the first line, such as a stack trace, varies in length.
    if (byte === NEWLINE && count > 0) break;
  }
  if (at < to) push(at, to, 0, WORD_ANY);
}

/** Reads the word at `at`. Returns its end, or NONE if the line limit cuts it. */
function readWord(at: usize, limit: usize, to: usize): usize {
  let stop = nextClear(IN_WORD, at, limit);
  const isPath = stop < limit && byteAt(stop) === QUESTION && hasSlash(at, stop);
  if (isPath) while (stop < limit && isInQuery(stop)) stop++;
  if (stop === limit && limit < to) return NONE;
  const length = stop - at;
  if (length === 1 && byteAt(at) === PLACEHOLDER) push(at, stop, 0, WORD_ANY);
  else if (isPath || hasDigit(at, stop)) push(at, stop, 0, WORD_VALUE);
  else push(at, stop, hashOfWord(WORD_LINES + at, length), WORD_TEXT);
  return stop;
}

function hasDigit(from: usize, to: usize): bool {
  for (let at = from; at < to; at += LOOK_BITS) {
    const bits = bitsFrom(DIGITS_MAP, at);
    if (bits !== 0) return at + usize(ctz(bits)) < to;
  }
  return false;
}

function hasSlash(from: usize, to: usize): bool {
  for (let at = from; at < to; at++) if (byteAt(at) === SLASH) return true;
  return false;
}

/** Returns whether the byte is part of a word, or one of `?&=;,!`. */
function isInQuery(at: usize): bool {
  if (isSet(IN_WORD, at)) return true;
  const byte = byteAt(at);
  return (
    byte === QUESTION || byte === EQUALS || byte === 0x26 || byte === 0x3b || byte === 0x2c || byte === 0x21
  );
}

/**
 * Reads the message of the field at `field`, whose text starts at `text`, and the surrounding parts. The key
 * does not count as a word, so that it never varies: later lookups use it to find the message.
 */
function readMessage(from: usize, field: usize, text: usize, end: usize, to: usize): void {
  count = 0;
  if (field > from) push(from, field, 0, WORD_ANY);
  const limit = min(end, text + MAX_READ_BYTES);
  markWords(text, limit);
  let at = text;
  while (at < limit) {
    const bits = bitsFrom(IN_WORD, at);
    if (bits === 0) {
      at = min(at + LOOK_BITS, limit);
      continue;
    }
    at = min(at + usize(ctz(bits)), limit);
    if (at === limit) break;
    if (byteAt(at) === COLON) {
      at++;
      continue;
    }
    // The two last words are reserved for the parts around the message.
    const next = count >= MAX_LINE_WORDS - 2 ? NONE : readWord(at, limit, to);
    if (next === NONE) break;
    at = next;
  }
  if (at < to) push(at, to, 0, WORD_ANY);
}

/** Returns true for lists of numbers and for dates. */
function areValues(from: u32): bool {
  for (let i = from; i < count; i++) if (load<u8>(WORD_KINDS + usize(first + i)) === WORD_TEXT) return false;
  return true;
}

/** Merges the words from number `from` on into one, if they are more than `most`. */
function shorten(from: u32, start: usize, end: usize, most: u32): bool {
  if (count - from <= most) return false;
  count = from;
  push(start, end, 0, WORD_ANY);
  return true;
}

function push(start: usize, end: usize, hash: u32, kind: u8): void {
  const i = usize(first + count++);
  store<u32>(WORD_STARTS + (i << 2), u32(WORD_LINES + start));
  store<u32>(WORD_ENDS + (i << 2), u32(WORD_LINES + end));
  store<u32>(WORD_HASHES + (i << 2), hash);
  store<u8>(WORD_KINDS + i, kind);
}
