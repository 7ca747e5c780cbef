/** List of the members that one parser finds in lines: key, row, value range and kind of each member. */
import {
  MAX_KEYS,
  MAX_LINE_FIELDS,
  MAX_MEMBERS,
  MEMBER_ENDS,
  MEMBER_ENTRIES,
  MEMBER_FIRST,
  MEMBER_KINDS,
  MEMBER_ORDER,
  MEMBER_ROWS,
  MEMBER_STARTS,
} from './field-layout';
import { isUnwanted, numberOf } from './key-table';

// Kinds as in shared/storage/columns/line-members.ts.
export const VALUE: u32 = 0;
export const ESCAPED: u32 = 1;
export const STRUCTURE: u32 = 2;
export const NOTHING: u32 = 3;

/** Start of this call's lines in the page; added to offsets and rows. */
let firstByte: usize = 0;
let firstRow: u32 = 0;

export function setFirst(byte: usize, row: u32): void {
  firstByte = byte;
  firstRow = row;
}

// @inline
export function memberCount(list: usize): u32 {
  return load<u32>(list);
}

// @inline
export function setMemberCount(list: usize, count: u32): void {
  store<u32>(list, count);
}

/** Returns the maximum count after a line of fields. */
// @inline
export function memberLimit(count: u32): u32 {
  return min(count + MAX_LINE_FIELDS, u32(MAX_MEMBERS));
}

/** Adds a member unless its key is unwanted. Returns the number of members of the list, which was `count`. */
// @inline
export function addMember(
  list: usize,
  count: u32,
  key: usize,
  row: u32,
  start: usize,
  end: usize,
  kind: u32,
): u32 {
  if (isUnwanted(key)) return count;
  const at = list + (usize(count) << 2);
  store<u32>(at, numberOf(key), MEMBER_ENTRIES);
  store<u32>(at, row + firstRow, MEMBER_ROWS);
  store<u32>(at, u32(start + firstByte), MEMBER_STARTS);
  store<u32>(at, u32(end + firstByte), MEMBER_ENDS);
  store<u8>(list + usize(count), kind, MEMBER_KINDS);
  return count + 1;
}

/** Sorts the members by key with a counting sort, which preserves the order of rows. */
export function sortMembers(list: usize, keys: u32): void {
  const count = usize(memberCount(list));
  // Shifted by one element: the loop below advances each start to its final value.
  const first = list + MEMBER_FIRST + 4;
  memory.fill(list + MEMBER_FIRST, 0, 4 * (usize(min(keys, u32(MAX_KEYS))) + 2));
  for (let i: usize = 0; i < count; i++) {
    const own = first + 4 + (usize(load<u32>(list + (i << 2), MEMBER_ENTRIES)) << 2);
    store<u32>(own, load<u32>(own) + 1);
  }
  let total: u32 = 0;
  for (let key: usize = 0; key < usize(keys); key++) {
    const own = first + (key << 2);
    total += load<u32>(own);
    store<u32>(own, total);
  }
  for (let i: usize = 0; i < count; i++) {
    const own = first + (usize(load<u32>(list + (i << 2), MEMBER_ENTRIES)) << 2);
    const next = load<u32>(own);
    store<u32>(own, next + 1);
    store<u32>(list + (usize(next) << 2), u32(i), MEMBER_ORDER);
  }
}
