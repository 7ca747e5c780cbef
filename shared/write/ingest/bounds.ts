/**
 * Bounds of one push, where the size of its body alone does not bound the memory that decoding takes. Each stands for
 * what a body of the largest size can hold in earnest, not for what a hostile one can declare.
 */
import { TooLargeError } from '../../base/model/errors.ts';

/** Offsets into a body are kept in 32 bits and computed with bit operations, which have a sign. */
export const MAX_BODY_BYTES = 2 ** 31 - 1;
/** Some 80 bytes of columns and references each: 80 MB. A million of usual lines are 250 MB, more than a body may hold. */
export const MAX_ENTRIES = 1_000_000;
/** 12 bytes of columns each, and as much where they are sorted: 100 MB. */
export const MAX_METADATA_PAIRS = 4_000_000;
/** About 500 bytes of objects each: 50 MB. A tenant may have 5,000 active streams by default. */
export const MAX_STREAMS = 100_000;
/** Parts of a body that name a stream, a resource or a scope, empty ones too: each takes work, and two bytes name it. */
export const MAX_STREAM_PARTS = 1_000_000;
/** UTC days of all entries: each is a chunk. Eleven years. */
export const MAX_DAYS = 4096;
/** Far over any `max_label_names_per_series`. */
export const MAX_LABELS_OF_STREAM = 10_000;
/** Labels of all streams of a push, about 100 bytes of objects each. */
export const MAX_LABELS = 1_000_000;
/** Characters of the labels of all streams, each once as labels and once as text. */
export const MAX_LABEL_CHARACTERS = 32 * 1024 * 1024;
/** Distinct names of structured metadata; each becomes a string and a place in a map. */
export const MAX_METADATA_NAMES = 100_000;
/** Characters of all these names: in OTLP a long key before each of many short ones could become gigabytes from a small body. */
export const MAX_NAME_CHARACTERS = 16 * 1024 * 1024;
/** One of them, before OTLP's maps are flattened; all metadata of an entry has 64 KiB by default. */
export const MAX_NAME_BYTES = 64 * 1024;
/**
 * Bytes of the labels text of one stream, which is read in one go: 25 ms where all of it are escapes. 15 labels of the largest size are
 * 46 KB. The reference ends at 16 MiB, and has a text for it (docs/dev/wire-format.md#order-of-checks).
 */
export const MAX_LABELS_TEXT_BYTES = 256 * 1024;
export const REFERENCE_LABELS_TEXT_BYTES = 16 * 1024 * 1024;
/** Fields of one entry or record, with those inside them, whatever they are: read in one go, some milliseconds. */
export const MAX_FIELDS_OF_ENTRY = 300_000;
/**
 * Bytes of an entry, a record or a document of JSON that are read in one go: without its texts of more than a megabyte, which are read
 * in steps. Some milliseconds.
 */
export const MAX_DENSE_BYTES = 4 * 1024 * 1024;
/**
 * Bytes that decoding has to make: characters for bytes that are none, numbers and maps of OTLP as text. Numbers are up to ten times as
 * long as they were sent, so a body within its limits could become a gigabyte.
 */
export const MAX_MADE_BYTES = 64 * 1024 * 1024;
/** Nesting of JSON values that are skipped. */
export const MAX_JSON_DEPTH = 1000;
/** Nesting of maps and arrays in an OTLP attribute or body; what SDKs send has a handful. */
export const MAX_OTLP_DEPTH = 64;
/** Arrays, maps and bytes of one record, resource or scope, as sent: made text in one go, some milliseconds. */
export const MAX_OTLP_VALUE_BYTES = 1024 * 1024;
/** Values inside these: an object each. */
export const MAX_OTLP_VALUES = 65_536;
/**
 * Bytes of metadata of all entries, those of a resource counted for each of its records: they lie in the body once, but
 * are read for every entry. Four times the largest body.
 */
export const MAX_OTLP_METADATA_BYTES = 512 * 1024 * 1024;
/** Distinct messages that the error of one push tells; further ones are only counted. */
export const MAX_MESSAGES = 100;
/** Characters of all these messages together: a message quotes labels and names. */
export const MAX_MESSAGE_CHARACTERS = 256 * 1024;

/** The 413 of a push that holds too many of something. */
export function tooMany(what: string, limit: number): TooLargeError {
  return new TooLargeError(`request body too large: more than ${limit} ${what}`);
}

/**
 * A step of a decoder is so many bytes of the body. A stream, and a resource or scope of OTLP, counts for this much more: its labels become
 * objects and text, 20 us each.
 */
export const STREAM_STEP_BYTES = 1024;
