/**
 * Finds the message of a JSON or logfmt line by its key, without reading the words before it. line-words.ts
 * reads the words of all other lines one after the other.
 *
 * The result is the message that reading would find. Lines in which the words before the message decide are
 * left to reading: it ends at a line feed and after MAX_LINE_WORDS words, and it looks for no further logfmt
 * message after one that is not valid.
 */
import {
  endOfLogfmtMessage,
  endOfQuoted,
  messageBehindKey,
  messageKeyBefore,
  QUOTE,
  SPACE,
} from './message-text';
import { wordEnd, wordRuns } from './word-bytes';
import { MAX_LINE_WORDS, MAX_READ_BYTES, WORD_LINES } from './word-layout';

const NEWLINE: u8 = 0x0a;
const COLON: u8 = 0x3a;
const EQUALS: u8 = 0x3d;
const OPEN_BRACE: u8 = 0x7b;

/** Start of the field, start and end of its text: offsets from WORD_LINES. */
export let messageField: usize = 0;
export let messageStart: usize = 0;
export let messageEnd: usize = 0;

// @inline
function byteAt(at: usize): u8 {
  return load<u8>(WORD_LINES + at);
}

/** Returns whether the line, which is not empty, has a message that was found. */
export function findMessage(from: usize, to: usize): bool {
  const limit = min(to, from + MAX_READ_BYTES);
  return byteAt(from) === OPEN_BRACE ? findInObject(from, limit, to) : findInLogfmt(from, limit, to);
}

function findInObject(from: usize, limit: usize, to: usize): bool {
  for (let at = from; at < limit; at += 16) {
    const text = v128.load(WORD_LINES + at);
    const quotes = i8x16.eq(text, i8x16.splat(QUOTE));
    const colons = i8x16.eq(v128.load(WORD_LINES + at + 1), i8x16.splat(COLON));
    let ends = i8x16.bitmask(v128.and(quotes, colons));
    const stops = i8x16.bitmask(i8x16.eq(text, i8x16.splat(NEWLINE)));
    for (; ends !== 0; ends &= ends - 1) {
      const bit = ctz(ends);
      const end = at + usize(bit);
      if (end >= limit || (stops & ((1 << bit) - 1)) !== 0) return false;
      const length = messageKeyBefore(end);
      // A key after the first byte, the brace, has its quote in this line.
      if (length === 0 || end < from + length + 2 || byteAt(end - length - 1) !== QUOTE) continue;
      const start = messageBehindKey(end - length, end, to);
      if (start === 0) continue;
      messageField = end - length - 1;
      messageStart = start;
      messageEnd = endOfQuoted(start, to);
      return hasFewWords(from, messageField);
    }
    if (stops !== 0) return false;
  }
  return false;
}

function findInLogfmt(from: usize, limit: usize, to: usize): bool {
  const first = wordEnd(from, limit);
  if (first === from || first === limit || byteAt(first) !== EQUALS || byteAt(from) === COLON) return false;
  for (let at = first; at < limit; at += 16) {
    const text = v128.load(WORD_LINES + at);
    let ends = i8x16.bitmask(i8x16.eq(text, i8x16.splat(EQUALS)));
    const stops = i8x16.bitmask(i8x16.eq(text, i8x16.splat(NEWLINE)));
    for (; ends !== 0; ends &= ends - 1) {
      const bit = ctz(ends);
      const end = at + usize(bit);
      if (end >= limit || (stops & ((1 << bit) - 1)) !== 0) return false;
      const length = messageKeyBefore(end);
      if (length === 0 || end < from + length) continue;
      const key = end - length;
      if (key > from && byteAt(key - 1) !== SPACE) {
        // The end of a longer word is no key. After other bytes, reading decides.
        if (byteAt(key - 1) !== COLON && wordEnd(key - 1, key) === key) continue;
        return false;
      }
      messageField = key === from ? key : key - 1;
      messageStart = end + 1;
      messageEnd = endOfLogfmtMessage(end + 1, to);
      return messageEnd !== 0 && hasFewWords(from, messageField);
    }
    if (stops !== 0) return false;
  }
  return false;
}

/** Returns whether reading reaches the key after these bytes: they have fewer words than it reads. */
function hasFewWords(from: usize, to: usize): bool {
  // Words and the bytes between them.
  if (to - from < 2 * usize(MAX_LINE_WORDS - 1)) return true;
  return wordRuns(from, to) < MAX_LINE_WORDS;
}
