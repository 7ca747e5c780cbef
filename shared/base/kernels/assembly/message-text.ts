/**
 * Finds the message of a JSON or logfmt line. shared/upkeep/pattern-mining/message-fields.ts lists the fields
 * and explains why only the bytes decide. Offsets are relative to WORD_LINES. 0 means none, because a key
 * precedes every message.
 */
import { stringEnd } from './text-bytes';
import { wordEnd } from './word-bytes';
import { WORD_LINES } from './word-layout';

export const QUOTE: u8 = 0x22;
const COLON: u8 = 0x3a;
export const SPACE: u8 = 0x20;

// Keys as numbers, the first byte lowest.
const LOG: u64 = 0x676f6c;
const MSG: u64 = 0x67736d;
const MSG_: u64 = 0x5f67736d;
const _MSG: u64 = 0x67736d5f;
const MESSAGE: u64 = 0x6567617373656d;
const CONTENT: u64 = 0x746e65746e6f63;

// @inline
function byteAt(at: usize): u8 {
  return load<u8>(WORD_LINES + at);
}

export function isMessageKey(from: usize, to: usize): bool {
  const length = to - from;
  if (length < 3 || length > 7) return false;
  const key = load<u64>(WORD_LINES + from) & (~u64(0) >>> u64(64 - 8 * length));
  return key === MSG || key === LOG || key === MSG_ || key === _MSG || key === MESSAGE || key === CONTENT;
}

/** Returns the bytes of the longest key of a message that ends at `end`; 0 if there is none. */
export function messageKeyBefore(end: usize): usize {
  const before = load<u64>(WORD_LINES + end - 8);
  const four = before >>> 32;
  if (four === MSG_ || four === _MSG) return 4;
  const three = before >>> 40;
  if (three === MSG || three === LOG) return 3;
  const seven = before >>> 8;
  return seven === MESSAGE || seven === CONTENT ? 7 : 0;
}

/**
 * Returns the start of the text of a JSON field whose key starts at `key` and has its closing quote at
 * `quote`.
 */
export function messageBehindKey(key: usize, quote: usize, to: usize): usize {
  if (quote + 2 >= to || byteAt(key - 1) !== QUOTE || byteAt(quote + 1) !== COLON) return 0;
  const at = byteAt(quote + 2) === SPACE ? quote + 3 : quote + 2;
  return at < to && byteAt(at) === QUOTE ? at + 1 : 0;
}

/**
 * Returns the offset after the closing quote of a text that begins at `from`, or the line's end if it has
 * none.
 */
export function endOfQuoted(from: usize, to: usize): usize {
  return min(stringEnd(WORD_LINES + from, WORD_LINES + to) - WORD_LINES + 1, to);
}

/**
 * Returns the offset after a logfmt value and the space that follows it. The value is quoted, or one word.
 * Returns 0 for anything else.
 */
export function endOfLogfmtMessage(at: usize, to: usize): usize {
  if (at >= to) return 0;
  if (byteAt(at) === QUOTE) return endOfQuoted(at + 1, to);
  if (byteAt(at) === COLON) return 0;
  const stop = wordEnd(at, to);
  if (stop === at) return 0;
  if (stop === to) return to;
  return byteAt(stop) === SPACE ? stop + 1 : 0;
}
