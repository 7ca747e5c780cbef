/**
 * Reads the pairs of a logfmt line as shared/execution/pipeline/logfmt-decoder.ts does. Lines with a fault,
 * and free text, are left to the parser (shared/storage/columns/field-extractor.ts explains why).
 */
import { bitsFrom, LOOK_BITS } from './bits';
import { BARE_ENDS, byteAt, FIELD_LINES, LOGFMT_KEYS, LOGFMT_MEMBERS, MAX_LINE_FIELDS } from './field-layout';
import { markQuotes, plainEnd } from './json-members';
import { findKey, follow, followerOf, isReserved, lengthOf, matches, startOfLine } from './key-table';
import { addMember, ESCAPED, VALUE } from './member-list';
import { BACKSLASH, bareEndBits, EQUALS, OPEN_BRACE, QUOTE, SPACE } from './text-bytes';
import { isCleanUtf8 } from './utf8';

/**
 * Sets a bit for each byte that ends a bare word: separators, and bytes that a bare word must not contain.
 */
function markBareEnds(start: usize, end: usize): void {
  for (let at = start & ~15; at < end; at += 16) {
    store<u16>(BARE_ENDS + (at >>> 3), u16(bareEndBits(v128.load(FIELD_LINES + at))));
  }
}

// @inline
function bareEnd(from: usize, end: usize): usize {
  for (let at = from; at < end; at += LOOK_BITS) {
    const bits = bitsFrom(BARE_ENDS, at);
    if (bits !== 0) return min(at + usize(ctz(bits)), end);
  }
  return end;
}

/** Adds the pairs of a line. Returns false if the line has a fault, is not logfmt, or exceeds a limit. */
export function readLogfmt(row: u32, start: usize, end: usize): bool {
  let last = startOfLine(LOGFMT_KEYS);
  let withValue: u32 = 0;
  let bare: u32 = 0;
  markBareEnds(start, end);
  markQuotes(start, end);
  let at = start;
  while (at < end) {
    if (byteAt(at) <= SPACE) {
      at++;
      continue;
    }
    const keyStart = at;
    let key = followerOf(last);
    if (key !== 0 && matches(key, 0, keyStart, end)) at += lengthOf(key);
    else key = 0;
    if (key === 0 || (at < end && !endsBare(byteAt(at)))) {
      key = 0;
      at = bareEnd(keyStart, end);
    }
    const keyEnd = at;
    const byte = at < end ? byteAt(at) : 0;
    if (byte > SPACE && (byte === QUOTE || at === keyStart)) return false;

    let valueStart = at;
    let valueEnd = at;
    let kind = VALUE;
    if (byte > SPACE) {
      valueStart = ++at;
      if (at < end && byteAt(at) === QUOTE) {
        valueStart = ++at;
        at = plainEnd(at, end);
        while (at < end && byteAt(at) === BACKSLASH) {
          kind = ESCAPED;
          at = plainEnd(at + 2, end);
        }
        if (at >= end || (kind === ESCAPED && !isUnquotable(valueStart, at))) return false;
        valueEnd = at++;
      } else {
        at = bareEnd(at, end);
        if (at < end && byteAt(at) > SPACE) return false;
        valueEnd = at;
      }
    }

    if (withValue + bare === MAX_LINE_FIELDS) return false;
    if (withValue + bare === 0 && byteAt(keyStart) === OPEN_BRACE) return false;
    // Check before adding the key: the words of free text would fill the table.
    if (valueStart === valueEnd && bare++ >= withValue) return false;
    if (key === 0) {
      if (!isCleanUtf8(FIELD_LINES + keyStart, keyEnd - keyStart)) return false;
      key = findKey(LOGFMT_KEYS, keyStart, keyEnd, 0);
      if (key === 0) return false;
      follow(last, key);
    }
    if (isReserved(key)) return false;
    last = key;
    if (!addMember(LOGFMT_MEMBERS, key, row, valueStart, valueEnd, kind)) return false;
    if (valueStart < valueEnd) withValue++;
  }
  return withValue > 0;
}

// @inline
function endsBare(byte: u32): bool {
  return byte <= SPACE || byte === EQUALS || byte === QUOTE;
}

/** Returns whether all escapes of a quoted value are valid. */
function isUnquotable(start: usize, end: usize): bool {
  for (let at = plainEnd(start, end); at < end; at = plainEnd(at, end)) {
    if (at + 1 >= end) return false;
    const escaped = byteAt(at + 1);
    if (escaped === 0x75) {
      if (at + 6 > end) return false;
      for (let i: usize = 2; i < 6; i++) if (!isHex(byteAt(at + i))) return false;
      at += 6;
    } else if (isSimpleEscape(escaped)) at += 2;
    else return false;
  }
  return true;
}

/** Returns whether the byte is `"`, `'`, `/`, backslash, b, f, n, r or t. */
// @inline
function isSimpleEscape(byte: u32): bool {
  if (byte === 0x22 || byte === 0x27 || byte === 0x2f || byte === BACKSLASH) return true;
  return byte === 0x62 || byte === 0x66 || byte === 0x6e || byte === 0x72 || byte === 0x74;
}

// @inline
function isHex(byte: u32): bool {
  return byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 6;
}
