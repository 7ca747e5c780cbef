/**
 * Bounds of one push, where the size of its body alone does not bound the memory that decoding takes. Each stands for
 * what a body of the largest size can hold in earnest, not for what a hostile one can declare.
 */
import { TooLargeError } from '../model/errors.ts';

/** Offsets into a body are kept in 32 bits and computed with bit operations, which have a sign. */
export const MAX_BODY_BYTES = 2 ** 31 - 1;
/** 28 bytes of columns each, an empty entry is 2 bytes of protobuf: 4 million are 120 MB, or 1 GB of usual lines. */
export const MAX_ENTRIES = 4_000_000;
/** 12 bytes of columns each: 100 MB. */
export const MAX_METADATA_PAIRS = 8_000_000;
/** About 500 bytes of objects each: 50 MB. A tenant may have 5,000 active streams by default. */
export const MAX_STREAMS = 100_000;
/** Far over any `max_label_names_per_series`; a text of 16 MiB could hold millions. */
export const MAX_LABELS_OF_STREAM = 10_000;
/** Labels of all streams of a push, about 100 bytes of objects each. */
export const MAX_LABELS = 2_000_000;
/** Distinct names of structured metadata; each becomes a string and a place in a map. */
export const MAX_METADATA_NAMES = 100_000;
/** Bytes of the labels text of one stream; the texts of wire-format 1.5 count it in powers of ten. */
export const MAX_LABELS_TEXT_BYTES = 16 * 1024 * 1024;
/** Nesting of JSON values that are skipped. */
export const MAX_JSON_DEPTH = 1000;
/** Nesting of maps and arrays in an OTLP attribute or body; what SDKs send has a handful. */
export const MAX_OTLP_DEPTH = 64;
/** An attribute's key, before maps are flattened; metadata of an entry has 64 KiB by default. */
export const MAX_OTLP_KEY_BYTES = 1024 * 1024;
/**
 * Characters of all names that flattened maps make in one push: a long key before each of many short ones could
 * become gigabytes from a small body.
 */
export const MAX_OTLP_NAME_CHARACTERS = 64 * 1024 * 1024;
/** The same for labels: those of a resource stand before each distinct label of its records. */
export const MAX_OTLP_LABEL_CHARACTERS = 128 * 1024 * 1024;
/**
 * Bytes of metadata of all entries, those of a resource counted for each of its records: they lie in the body once, but
 * are read for every entry. As many as the largest body can hold without sharing.
 */
export const MAX_OTLP_METADATA_BYTES = MAX_BODY_BYTES;
/** Distinct messages that the error of one push tells; further ones are only counted. */
export const MAX_MESSAGES = 100;
/** Characters of all these messages together: a message quotes labels, which may be 16 MiB. */
export const MAX_MESSAGE_CHARACTERS = 256 * 1024;

/** The 413 of a push that holds too many of something. */
export function tooMany(what: string, limit: number): TooLargeError {
  return new TooLargeError(`request body too large: more than ${limit} ${what}`);
}
