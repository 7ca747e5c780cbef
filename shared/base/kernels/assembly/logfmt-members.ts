/**
 * Reads the pairs of a logfmt line as shared/execution/pipeline/logfmt-decoder.ts does. Lines with a fault,
 * and free text, are left to the parser (shared/storage/columns/field-extractor.ts explains why). The text
 * between two values is mostly the same as before (gaps.ts).
 */
import { byteAt, FIELD_LINES, LOGFMT_KEYS, LOGFMT_MEMBERS, MAX_LINE_FIELDS } from './field-layout';
import { bareEnd, markBareEnds, markQuotes, plainEnd } from './field-marks';
import { AFTER_VALUE, gapBytes, hasGap, keepGap, keyIn } from './gaps';
import { findKey, isReserved, recordOf } from './key-table';
import { addMember, ESCAPED, memberCount, memberLimit, setMemberCount, VALUE } from './member-list';
import { BACKSLASH, OPEN_BRACE, QUOTE, SPACE } from './text-bytes';
import { isCleanUtf8 } from './utf8';

/**
 * Adds the pairs of a line. Returns false, and adds none, if the line has a fault, is not logfmt, or exceeds a
 * limit.
 */
export function readLogfmt(row: u32, start: usize, end: usize): bool {
  const before = memberCount(LOGFMT_MEMBERS);
  const limit = memberLimit(before);
  let count = before;
  let gap = recordOf(LOGFMT_KEYS, 0) + AFTER_VALUE;
  let withValue: u32 = 0;
  let bare: u32 = 0;
  markBareEnds(start, end);
  markQuotes(start, end);
  let at = start;
  for (;;) {
    const gapStart = at;
    let key: usize = 0;
    let keyStart: usize = 0;
    let keyEnd: usize = 0;
    let hasValue = true;
    if (hasGap(gap, at, end)) {
      key = keyIn(gap);
      at += gapBytes(gap);
    } else {
      while (at < end && byteAt(at) <= SPACE) at++;
      if (at === end) break;
      keyStart = at;
      at = bareEnd(at, end);
      keyEnd = at;
      const byte = at < end ? byteAt(at) : 0;
      hasValue = byte > SPACE;
      if (hasValue && (byte === QUOTE || at === keyStart)) return false;
      if (hasValue) at++;
    }
    const gapEnd = at;

    let valueStart = at;
    let kind = VALUE;
    let valueEnd = at;
    if (hasValue) {
      if (at < end && byteAt(at) === QUOTE) {
        valueStart = at + 1;
        at = plainEnd(valueStart, end);
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
    // Check before adding the key: the words of free text would fill the table.
    if (valueStart < valueEnd) withValue++;
    else if (bare++ >= withValue) return false;
    if (key === 0) {
      if (withValue + bare === 1 && byteAt(keyStart) === OPEN_BRACE) return false;
      if (!isCleanUtf8(FIELD_LINES + keyStart, keyEnd - keyStart)) return false;
      key = findKey(LOGFMT_KEYS, keyStart, keyEnd, 0);
      if (key === 0 || isReserved(key)) return false;
      if (hasValue) keepGap(gap, gapStart, gapEnd, key);
    }
    gap = key + AFTER_VALUE;
    if (count >= limit) return false;
    count = addMember(LOGFMT_MEMBERS, count, key, row, valueStart, valueEnd, kind);
  }
  setMemberCount(LOGFMT_MEMBERS, count);
  return withValue > 0;
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
