/**
 * Finds the variables of a line. Two rules, tried at each position from left to right:
 *
 *     a value behind a key     "status":200   path=/a/b   msg="a text"     (JSON and logfmt, without parsing either)
 *     a word with a digit      2026-11-23T14:12:51.5Z   10.0.0.7:8080   blk_38865049064139660   0x7ffe
 *
 * A word consists of letters, digits, `_` and `-`; between digits also `.` and `:`, so that times, addresses
 * and decimals stay whole. A JSON value is a string without its quotes, or the text up to the next comma or
 * bracket.
 */

/** Maximum variables per line; a line with more is stored as it is. */
const MAX_VARIABLES = 2048;

interface Variables {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Hash of the key before the value; 0 for a word. */
  readonly keys: Uint32Array;
  count: number;
}

export function makeVariables(): Variables {
  return {
    starts: new Uint32Array(MAX_VARIABLES),
    ends: new Uint32Array(MAX_VARIABLES),
    keys: new Uint32Array(MAX_VARIABLES),
    count: 0,
  };
}

const WORD = 1;
const DIGIT = 2;
const JOINT = 4;
const CLASS = Uint8Array.from({ length: 256 }, (_, code) => {
  const text = String.fromCharCode(code);
  if (/[0-9]/.test(text)) return WORD | DIGIT;
  if (/[A-Za-z_-]/.test(text)) return WORD;
  return /[.:]/.test(text) ? JOINT : 0;
});
const QUOTE = 0x22;
const COLON = 0x3a;
const EQUALS = 0x3d;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;
/** Characters that cannot start a bare JSON value. */
const OPENING = new Set([QUOTE, 0x7b, 0x5b]);

/** Fills `found`. False if there are more variables than it can hold. */
export function findVariables(bytes: Uint8Array, from: number, to: number, found: Variables): boolean {
  found.count = 0;
  let at = from;
  while (at < to) {
    const byte = bytes[at];
    let start = at;
    let end = at;
    let key = 0;
    if (byte === COLON && at > from && bytes[at - 1] === QUOTE && at + 1 < to) {
      start = at + 1 + (bytes[at + 1] === QUOTE ? 1 : 0);
      end = start > at + 1 ? endOfString(bytes, start, to) : endOfBare(bytes, start, to);
      key = keyBefore(bytes, from, at - 1);
    } else if (byte === EQUALS && at > from && CLASS[bytes[at - 1]] & WORD && at + 1 < to) {
      start = at + 1 + (bytes[at + 1] === QUOTE ? 1 : 0);
      end = start > at + 1 ? endOfString(bytes, start, to) : endOfField(bytes, start, to);
      key = keyBefore(bytes, from, at);
    } else if (CLASS[byte] & WORD) {
      end = endOfWord(bytes, at, to);
      if (!hasDigit(bytes, at, end)) {
        at = end;
        continue;
      }
    }
    if (end === start) {
      at++;
      continue;
    }
    if (found.count === MAX_VARIABLES) return false;
    found.starts[found.count] = start;
    found.ends[found.count] = end;
    found.keys[found.count++] = key;
    at = end;
  }
  return true;
}

function endOfString(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at, to);
}

function endOfBare(bytes: Uint8Array, from: number, to: number): number {
  if (OPENING.has(bytes[from])) return from;
  let at = from;
  while (at < to && bytes[at] !== COMMA && bytes[at] !== CLOSING_BRACE && bytes[at] !== CLOSING_BRACKET) at++;
  return at;
}

function endOfField(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] > SPACE && bytes[at] !== QUOTE) at++;
  return at;
}

function endOfWord(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  for (;;) {
    while (at < to && CLASS[bytes[at]] & WORD) at++;
    const joins = at + 1 < to && CLASS[bytes[at]] & JOINT && CLASS[bytes[at - 1]] & DIGIT;
    if (!joins || !(CLASS[bytes[at + 1]] & DIGIT)) return at;
    at++;
  }
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (CLASS[bytes[at]] & DIGIT) return true;
  return false;
}

/** Hash of the key that ends before `end`; never 0. */
function keyBefore(bytes: Uint8Array, from: number, end: number): number {
  let hash = 17;
  for (
    let at = end - 1;
    at >= from && bytes[at] > SPACE && bytes[at] !== QUOTE && bytes[at] !== COMMA;
    at--
  ) {
    hash = (Math.imul(hash, 31) + bytes[at]) | 0;
  }
  return hash >>> 0 || 1;
}
