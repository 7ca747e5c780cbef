/** Limits of promoted columns. Whatever is over one of them is read from its line: never wrong, only slower. */

// Those of lines, keys and members are also in kernels/assembly/field-layout.ts: levels of objects and brackets, keys of a page,
// members of a page.

/** Keys of one line. Real lines have some dozens; a line with more is not worth a column. */
export const MAX_LINE_FIELDS = 256;
/** Bytes of one key: the joined name of the deepest has fewer characters than the parser's longest (MAX_NAME_CHARACTERS). */
export const MAX_KEY_BYTES = 112;
/** Keys that are kept for the next page; with more they are forgotten. */
export const KEPT_KEYS = 1024;

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
