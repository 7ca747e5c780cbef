/**
 * Finds the parser and all members of each line in one pass. A line belongs to at most one parser: a JSON
 * object with a member has a quote at a position that logfmt requires for a key.
 */
import {
  byteAt,
  FIELD_OFFSETS,
  FIELD_PARSERS,
  JSON_KEYS,
  JSON_MEMBERS,
  LOGFMT_KEYS,
  LOGFMT_MEMBERS,
  MAX_FIELD_LINE,
} from './field-layout';
import { clearMarks } from './field-marks';
import { readJson } from './json-members';
import { clearKeys, findKey, keyCount } from './key-table';
import { readLogfmt } from './logfmt-members';
import { setFirst, setMemberCount, sortMembers } from './member-list';
import { OPEN_BRACE } from './text-bytes';

const JSON_LINE: u32 = 1;
const LOGFMT_LINE: u32 = 2;

/** Begins a page. */
export function clearMembers(): void {
  setMemberCount(JSON_MEMBERS, 0);
  setMemberCount(LOGFMT_MEMBERS, 0);
}

/** Clears the keys of a table. */
export function clearFieldKeys(table: usize): void {
  clearKeys(table);
}

/** Adds a key that the host has written at the start of the lines. */
export function addFieldKey(table: usize, length: u32, parent: u32): void {
  findKey(table, 0, usize(length), parent);
}

/**
 * Adds the members of the lines at FIELD_LINES, between the `rows + 1` offsets at FIELD_OFFSETS, which count from the start
 * of the page.
 * @param firstByte, firstRow Start of the lines in their page
 * @param parsers Requested parsers: JSON_LINE, LOGFMT_LINE or the sum of both
 */
export function readFields(rows: u32, firstByte: usize, firstRow: u32, parsers: u32): void {
  setFirst(firstByte, firstRow);
  clearMarks(usize(load<u32>(FIELD_OFFSETS + (usize(rows) << 2))) - firstByte);
  for (let row: u32 = 0; row < rows; row++) {
    const at = FIELD_OFFSETS + (usize(row) << 2);
    const start = usize(load<u32>(at)) - firstByte;
    const end = usize(load<u32>(at, 4)) - firstByte;
    const isJson = start < end && byteAt(start) === OPEN_BRACE;
    const own = isJson ? JSON_LINE : LOGFMT_LINE;
    let parser: u8 = 0;
    if ((parsers & own) !== 0 && end - start <= MAX_FIELD_LINE) {
      if (isJson ? readJson(row, start, end) : readLogfmt(row, start, end)) parser = u8(own);
    }
    store<u8>(FIELD_PARSERS + usize(row), parser);
  }
}

/** Ends a page: sorts its members by key. */
export function sortFields(): void {
  sortMembers(JSON_MEMBERS, keyCount(JSON_KEYS));
  sortMembers(LOGFMT_MEMBERS, keyCount(LOGFMT_KEYS));
}
