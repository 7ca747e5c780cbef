/**
 * Limits of field columns. Data that exceeds a limit is read from its line: the result is the same, only
 * slower.
 */

// The limits of lines, keys and members are also in kernels/assembly/field-layout.ts, as are the depth of
// objects and brackets, and the keys and members of a page. The maximum bytes of a value are in
// kernels/assembly/field-cells.ts.

/**
 * Maximum keys of one line. Real lines have up to some dozens; a line with more does not justify columns.
 */
export const MAX_LINE_FIELDS = 256;
/**
 * Maximum bytes of one key. The joined name of the deepest key then has fewer characters than the parser's
 * limit (MAX_LABEL_NAME_CHARACTERS).
 */
export const MAX_KEY_BYTES = 112;
/** Maximum keys that remain for the next page; with more, all are dropped. */
export const KEPT_KEYS = 1024;

/**
 * Maximum distinct values of a dictionary in one page, and their total bytes. Fields with more are text that
 * queries do not group by.
 */
export const MAX_DICTIONARY_VALUES = 1024;
export const MAX_DICTIONARY_BYTES = 32 * 1024;

/** Maximum shapes (decimals, unit) of a number column, so that the code of a row fits in a byte. */
export const MAX_SHAPES = 16;
/** Maximum digits of a number; such numbers are exact in a double. */
export const MAX_DIGITS = 15;
/** Maximum bytes after the digits: `ms`, `KiB`, `µs`. */
export const MAX_UNIT_BYTES = 4;

/** Maximum columns of one page and parser; each costs about 30 bytes of footer. */
export const MAX_FIELD_COLUMNS = 24;
/** Minimum lines of a parser in a page with columns. Parsing fewer is cheaper than another read. */
export const MIN_ROWS = 32;

/** Maximum columns of one page that exist only to make it complete (residuals.ts). */
export const MAX_COMPLETING_COLUMNS = 24;
/**
 * Maximum bytes of residual fields of a line. A longer text stays in its line: it is a stack trace, not a
 * rare field.
 */
export const MAX_RESIDUAL_BYTES = 1024;
