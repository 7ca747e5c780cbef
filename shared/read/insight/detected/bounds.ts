/** Limits of a request for detected fields, in addition to the bytes of its entries (log-query.ts). */

/** Maximum fields. Each has a counter of up to 4 KiB: 20 MiB in all. The default of a request is 1,000. */
export const MAX_DETECTED_FIELDS = 5000;
/**
 * Maximum distinct values of one field in a response: a few MB for usual values. The default of a request is
 * 1,000.
 */
export const MAX_DETECTED_VALUES = 100_000;
/** A longer name is not a field, just as it is not a label for the parsers. */
export { MAX_LABEL_NAME_CHARACTERS } from '../../../execution/pipeline/key-table.ts';
/**
 * Maximum characters of names that the search for JSON paths creates for one request. Later fields have no
 * path.
 */
export const MAX_PATH_CHARACTERS = 64 * 1024 * 1024;
/**
 * Target size of the pages in which lines are parsed, with a pause in between. A page takes a few
 * milliseconds.
 */
export const PARSED_PAGE_BYTES = 1024 * 1024;
/** Maximum rows of such a page, for short lines. */
export const PAGE_ROWS = 4096;
/** Names of shorter lines take at most about 100 KB, so they are not checked. */
export const UNCHECKED_LINE_BYTES = 2048;
/** Maximum bytes of all names of one JSON line: 10,000 of 100 bytes. Real logs do not exceed it. */
export const MAX_LINE_NAME_BYTES = 1024 * 1024;
/** Maximum characters of names that a parser caches across lines, with their suffixed forms. */
export const MAX_CACHED_NAME_CHARACTERS = 16 * 1024 * 1024;
