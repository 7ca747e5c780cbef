/** Limits of promoted columns. Whatever is over one of them is read from its line: never wrong, only slower. */

/** Keys of one line. Real lines have some dozens; a line with more is not worth a column. */
export const MAX_LINE_FIELDS = 256;
/** Levels of objects that are entered; deeper lines are left to the parser. */
export const MAX_DEPTH = 8;
/** Levels of brackets inside an array that is stepped over: they fit the bits of one number. */
export const MAX_ARRAY_DEPTH = 30;

/** Distinct keys of a page. Lines whose keys are data (ids as keys) would grow the table without end. */
export const MAX_PAGE_KEYS = 4096;
/** A table with more keys than this is begun anew with the next page. */
export const KEPT_KEYS = 1024;
/** Bytes of one key: the joined name of the deepest has fewer characters than the parser's longest (MAX_NAME_CHARACTERS). */
export const MAX_KEY_BYTES = 112;
/** Members of all lines of a page: 17 bytes each. A page of 1 MiB of usual lines has some 50,000. */
export const MAX_PAGE_MEMBERS = 512 * 1024;

/** A longer value is left in its line: what is grouped or compared is short. */
export const MAX_VALUE_BYTES = 128;
/** Distinct values of a dictionary in one page, and their bytes: more is text that nobody groups by. */
export const MAX_VALUES = 1024;
export const MAX_DICTIONARY_BYTES = 32 * 1024;

/** Shapes (digits behind the dot, unit) of a column of numbers: codes of a row then fit a byte with room to spare. */
export const MAX_SHAPES = 16;
/** Digits of a number: all of them together are exact in a double. */
export const MAX_DIGITS = 15;
/** Bytes behind the digits: `ms`, `KiB`, `µs`. */
export const MAX_UNIT_BYTES = 4;

/** Columns of one page and parser: each costs some 30 bytes of footer. */
export const MAX_COLUMNS = 24;
/** A page with fewer lines of a parser has no columns: parsing them is cheaper than another read. */
export const MIN_ROWS = 32;

/** Columns of one page that only make it complete (rests.ts). */
export const MAX_COMPLETING_COLUMNS = 24;
/** A longer rest is left in its line: a stack trace, not a rare field. */
export const MAX_REST_BYTES = 1024;
