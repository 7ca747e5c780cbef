/** The members of lines of one parser: for each pair of a line its key, row, where its value stands, and of which kind that is. */
import {
  MAX_KEYS,
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

// Kinds of shared/storage/columns/line-members.ts.
export const VALUE: u32 = 0;
export const ESCAPED: u32 = 1;
export const STRUCTURE: u32 = 2;
export const NOTHING: u32 = 3;

/** Added to places and rows: where the lines of this call stand in the page. */
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

/** Adds a member unless its key is unwanted; false if there is no room for more. */
// @inline
export function addMember(list: usize, key: usize, row: u32, start: usize, end: usize, kind: u32): bool {
  if (isUnwanted(key)) return true;
  const count = usize(memberCount(list));
  if (count === MAX_MEMBERS) return false;
  const at = list + (count << 2);
  store<u32>(at, numberOf(key), MEMBER_ENTRIES);
  store<u32>(at, row + firstRow, MEMBER_ROWS);
  store<u32>(at, u32(start + firstByte), MEMBER_STARTS);
  store<u32>(at, u32(end + firstByte), MEMBER_ENDS);
  store<u8>(list + count, kind, MEMBER_KINDS);
  setMemberCount(list, u32(count) + 1);
  return true;
}

/** Counting sort of the members by key; it keeps the order of rows. */
export function sortMembers(list: usize, keys: u32): void {
  const count = usize(memberCount(list));
  // One place further than it says: then the walk below leaves the first ones where they belong.
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
    const place = load<u32>(own);
    store<u32>(own, place + 1);
    store<u32>(list + (usize(place) << 2), u32(i), MEMBER_ORDER);
  }
}
