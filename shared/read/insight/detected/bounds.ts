/** What a request for detected fields may hold, beside the bytes of its entries (log-query.ts). */

/** A field has a counter of up to 4 KiB: 20 MiB in all. The default of a request is 1,000. */
export const MAX_FIELDS = 5000;
/** Distinct values of one field in an answer: with usual values some MB. The default of a request is 1,000. */
export const MAX_VALUES = 100_000;
/** A longer name is no field, as it is no label for the parsers. */
export { MAX_NAME_CHARACTERS } from '../../../execution/pipeline/key-table.ts';
/** Characters of names that the search for JSON paths puts together for one request; fields met later have no path. */
export const MAX_PATH_CHARACTERS = 64 * 1024 * 1024;
/** Lines are parsed in pages of about this size, with a pause in between: a page takes some milliseconds. */
export const PAGE_BYTES = 1024 * 1024;
/** Short lines: a page ends here. */
export const PAGE_ROWS = 4096;
/** Of shorter lines the names cannot take more than some 100 KB. */
export const UNCHECKED_LINE_BYTES = 2048;
/** Names of one line of JSON together: 10,000 of 100 bytes. A longer sum is made of keys that nobody's logs have. */
export const MAX_LINE_NAME_BYTES = 1024 * 1024;
/** Names that a parser keeps from line to line, with their suffixed forms. */
export const MAX_KEPT_NAME_CHARACTERS = 16 * 1024 * 1024;
