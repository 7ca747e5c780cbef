/** Memory of the kernels that look for fields in lines: json-members.ts, logfmt-members.ts, value-terms.ts. */
import { BASE, SLACK } from './layout';

/** Distinct keys of a page. Lines whose keys are data (ids as keys) would grow the table without end. */
export const MAX_KEYS: usize = 4096;
/** As in shared/storage/columns/bounds.ts. */
export const MAX_KEY_BYTES: usize = 112;
export const MAX_LINE_FIELDS: u32 = 256;
/** Levels of objects that are entered; deeper lines are left to the parser. */
export const MAX_DEPTH: u32 = 8;
/** Levels of brackets inside an array that is stepped over: they fit the bits of one number. */
export const MAX_ARRAY_DEPTH: u32 = 30;
/** Members of all lines of a page: 17 bytes each. A page of 1 MiB of usual lines has some 50,000. */
export const MAX_MEMBERS: usize = 512 * 1024;

/** Lines of one call. */
export const MAX_FIELD_ROWS: usize = 65536;
/** Bytes of a line; longer ones have no fields. */
export const MAX_FIELD_LINE: usize = 16 * 1024 * 1024;

/** A table of keys: their number, slots, a record for the start of a line, records (key-table.ts). */
export const KEY_SLOTS: usize = 16;
export const START_RECORD: usize = KEY_SLOTS + 8 * MAX_KEYS;
export const KEY_TEXT: usize = 32;
export const RECORD_BYTES: usize = KEY_TEXT + MAX_KEY_BYTES + 16;
const KEY_TABLE_BYTES: usize = START_RECORD + (MAX_KEYS + 1) * RECORD_BYTES;

/** A list of members: their number, then columns (member-list.ts). */
export const MEMBER_ENTRIES: usize = 16;
export const MEMBER_ROWS: usize = MEMBER_ENTRIES + 4 * MAX_MEMBERS;
export const MEMBER_STARTS: usize = MEMBER_ROWS + 4 * MAX_MEMBERS;
export const MEMBER_ENDS: usize = MEMBER_STARTS + 4 * MAX_MEMBERS;
export const MEMBER_KINDS: usize = MEMBER_ENDS + 4 * MAX_MEMBERS;
/** Members by key: those of key k are ORDER[FIRST[k]] to ORDER[FIRST[k + 1] - 1], in the order of rows. */
export const MEMBER_FIRST: usize = MEMBER_KINDS + MAX_MEMBERS;
export const MEMBER_ORDER: usize = MEMBER_FIRST + 4 * (MAX_KEYS + 2);
const MEMBER_LIST_BYTES: usize = MEMBER_ORDER + 4 * MAX_MEMBERS;

export const JSON_KEYS: usize = BASE;
export const LOGFMT_KEYS: usize = JSON_KEYS + KEY_TABLE_BYTES;
export const JSON_MEMBERS: usize = LOGFMT_KEYS + KEY_TABLE_BYTES;
export const LOGFMT_MEMBERS: usize = JSON_MEMBERS + MEMBER_LIST_BYTES;
/** Keys of the objects around. */
export const PARENTS: usize = LOGFMT_MEMBERS + MEMBER_LIST_BYTES;
/** What each line is: 0, JSON_LINE or LOGFMT_LINE. */
export const FIELD_PARSERS: usize = PARENTS + 4 * usize(MAX_DEPTH);
export const FIELD_OFFSETS: usize = FIELD_PARSERS + MAX_FIELD_ROWS;
/** Bits of the line at hand: quotes and backslashes; what ends a bare word of logfmt. */
export const QUOTES: usize = FIELD_OFFSETS + 4 * (MAX_FIELD_ROWS + 2);
export const BARE_ENDS: usize = QUOTES + MAX_FIELD_LINE / 8 + SLACK;
/** Of each key, what stands for its name in terms of values; the terms that come of it (value-terms.ts). */
export const KEY_WORDS: usize = BARE_ENDS + MAX_FIELD_LINE / 8 + SLACK;
export const VALUE_TERMS: usize = KEY_WORDS + 4 * MAX_KEYS;
export const FIELD_LINES: usize = VALUE_TERMS + 4 * MAX_MEMBERS;

// @inline
export function byteAt(at: usize): u32 {
  return load<u8>(FIELD_LINES + at);
}
