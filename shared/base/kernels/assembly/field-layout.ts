/**
 * Memory layout of the kernels that find fields in lines: json-members.ts, logfmt-members.ts, value-terms.ts.
 */
import { BASE, SLACK } from './layout';

/**
 * Maximum distinct keys of a page. Lines whose keys are data (such as IDs) would otherwise grow the table
 * without limit.
 */
export const MAX_KEYS: usize = 4096;
/** Limits as in shared/storage/columns/bounds.ts. */
export const MAX_KEY_BYTES: usize = 112;
export const MAX_LINE_FIELDS: u32 = 256;
/** Maximum depth of nested objects; the parser handles deeper lines. */
export const MAX_DEPTH: u32 = 8;
/** Maximum depth of brackets in a skipped array, so that a u32 holds one bit per level. */
export const MAX_ARRAY_DEPTH: u32 = 30;
/** Maximum members of all lines of a page, 17 bytes each. A typical page of 1 MiB has about 50,000. */
export const MAX_MEMBERS: usize = 512 * 1024;

/** Maximum lines of one call. */
export const MAX_FIELD_ROWS: usize = 65536;
/** Maximum bytes of a line; longer lines have no fields. */
export const MAX_FIELD_LINE: usize = 16 * 1024 * 1024;

/**
 * Layout of a key table: number of keys, slots, a record for the line itself, records (key-table.ts).
 * A record: fields, the gaps after the key (gaps.ts), its bytes.
 */
export const KEY_SLOTS: usize = 16;
export const LINE_RECORD: usize = KEY_SLOTS + 8 * MAX_KEYS;
export const KEY_GAPS: usize = 32;
export const GAP_BYTES: usize = 48;
export const KEY_TEXT: usize = KEY_GAPS + 2 * GAP_BYTES;
export const RECORD_BYTES: usize = KEY_TEXT + MAX_KEY_BYTES + 16;
const KEY_TABLE_BYTES: usize = LINE_RECORD + (MAX_KEYS + 1) * RECORD_BYTES;

/** Layout of a member list: number of members, then columns (member-list.ts). */
export const MEMBER_ENTRIES: usize = 16;
export const MEMBER_ROWS: usize = MEMBER_ENTRIES + 4 * MAX_MEMBERS;
export const MEMBER_STARTS: usize = MEMBER_ROWS + 4 * MAX_MEMBERS;
export const MEMBER_ENDS: usize = MEMBER_STARTS + 4 * MAX_MEMBERS;
export const MEMBER_KINDS: usize = MEMBER_ENDS + 4 * MAX_MEMBERS;
/** Members by key: those of key k are ORDER[FIRST[k]] to ORDER[FIRST[k + 1] - 1], in row order. */
export const MEMBER_FIRST: usize = MEMBER_KINDS + MAX_MEMBERS;
export const MEMBER_ORDER: usize = MEMBER_FIRST + 4 * (MAX_KEYS + 2);
const MEMBER_LIST_BYTES: usize = MEMBER_ORDER + 4 * MAX_MEMBERS;

export const JSON_KEYS: usize = BASE;
export const LOGFMT_KEYS: usize = JSON_KEYS + KEY_TABLE_BYTES;
export const JSON_MEMBERS: usize = LOGFMT_KEYS + KEY_TABLE_BYTES;
export const LOGFMT_MEMBERS: usize = JSON_MEMBERS + MEMBER_LIST_BYTES;
/** Kind of each line: 0, JSON_LINE or LOGFMT_LINE. */
export const FIELD_PARSERS: usize = LOGFMT_MEMBERS + MEMBER_LIST_BYTES;
export const FIELD_OFFSETS: usize = FIELD_PARSERS + MAX_FIELD_ROWS;
/** Bitmaps of the lines: quotes and backslashes; ends of bare logfmt words (field-marks.ts). */
export const QUOTES: usize = FIELD_OFFSETS + 4 * (MAX_FIELD_ROWS + 2);
export const BARE_ENDS: usize = QUOTES + MAX_FIELD_LINE / 8 + SLACK;
/** Hash word of each key's name in value terms, and the resulting terms (value-terms.ts). */
export const KEY_WORDS: usize = BARE_ENDS + MAX_FIELD_LINE / 8 + SLACK;
export const VALUE_TERMS: usize = KEY_WORDS + 4 * MAX_KEYS;
/** Cells of one field (field-cells.ts): parser, code and number of each row. */
export const CELL_PARSERS: usize = VALUE_TERMS + 4 * MAX_MEMBERS;
export const CELL_CODES: usize = CELL_PARSERS + MAX_FIELD_ROWS;
export const CELL_NUMBERS: usize = CELL_CODES + 4 * MAX_FIELD_ROWS;
/** Distinct values of the field: slots, hashes, starts and bytes. Limits as in shared/storage/columns/bounds.ts. */
export const MAX_CELL_VALUES: u32 = 1024;
export const MAX_CELL_BYTES: u32 = 32 * 1024;
export const CELL_SLOTS_COUNT: usize = 4 * usize(MAX_CELL_VALUES);
export const CELL_SLOTS: usize = CELL_NUMBERS + 8 * MAX_FIELD_ROWS;
export const CELL_HASHES: usize = CELL_SLOTS + 2 * CELL_SLOTS_COUNT;
export const CELL_STARTS: usize = CELL_HASHES + 4 * usize(MAX_CELL_VALUES);
export const CELL_BYTES: usize = CELL_STARTS + 4 * usize(MAX_CELL_VALUES + 1) + SLACK;
/** Shapes of numbers (number-shapes.ts). */
export const MAX_SHAPES: u32 = 16;
export const SHAPE_RECORD: usize = 12;
export const CELL_SHAPES: usize = CELL_BYTES + usize(MAX_CELL_BYTES) + SLACK;
/** Text of the host without its escapes. */
export const MAX_CELL_TEXT: usize = 512;
export const CELL_TEXT: usize = CELL_SHAPES + usize(MAX_SHAPES) * SHAPE_RECORD + SLACK;
/** Texts between numbers: their ends, then their bytes. */
export const MAX_OTHER_TEXTS: usize = MAX_FIELD_ROWS / 16 + 32;
export const OTHER_ENDS: usize = CELL_TEXT + MAX_CELL_TEXT + SLACK;
export const OTHER_TEXTS: usize = OTHER_ENDS + 4 * MAX_OTHER_TEXTS;
/** Packed codes (cell-codes.ts): symbol of each code, codes in use, and the symbols of the rows. */
export const MAX_CODES: u32 = MAX_CELL_VALUES + 2;
export const CODE_SYMBOLS: usize = OTHER_TEXTS + MAX_OTHER_TEXTS * MAX_CELL_TEXT + SLACK;
export const USED_CODES: usize = CODE_SYMBOLS + 2 * usize(MAX_CODES);
export const PACKED_CODES: usize = (USED_CODES + 4 * usize(MAX_CODES) + SLACK) & ~7;
export const FIELD_LINES: usize = PACKED_CODES + 2 * MAX_FIELD_ROWS + SLACK;

// @inline
export function byteAt(at: usize): u32 {
  return load<u8>(at, FIELD_LINES);
}
