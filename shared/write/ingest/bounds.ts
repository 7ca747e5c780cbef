/**
 * Limits of one push, for cases in which the body size alone does not bound the memory of decoding. Each
 * reflects the content of a realistic body of maximum size, not of a hostile one.
 */
import { TooLargeError } from '../../base/model/errors.ts';

/** Offsets into a body are 32-bit and computed with bit operations, which are signed. */
export const MAX_BODY_BYTES = 2 ** 31 - 1;
/**
 * About 80 bytes of columns and references per entry: 80 MB. A million usual lines are 250 MB, more than a
 * body may hold.
 */
export const MAX_PUSH_ENTRIES = 1_000_000;
/** 12 bytes of columns per pair, and as much while they are sorted: 100 MB. */
export const MAX_METADATA_PAIRS = 4_000_000;
/** About 500 bytes of objects per stream: 50 MB. By default a tenant may have 5,000 active streams. */
export const MAX_STREAMS = 100_000;
/**
 * Maximum parts of a body that name a stream, a resource or a scope, including empty ones. Each costs work,
 * and two bytes name one.
 */
export const MAX_STREAM_PARTS = 1_000_000;
/** Maximum UTC days of all entries, each of which becomes a chunk. Eleven years. */
export const MAX_DAYS = 4096;
/** Far above any `max_label_names_per_series`. */
export const MAX_LABELS_OF_STREAM = 10_000;
/** Maximum labels of all streams of a push, about 100 bytes of objects each. */
export const MAX_LABELS = 1_000_000;
/** Maximum label characters of all streams, each counted once as labels and once as text. */
export const MAX_LABEL_CHARACTERS = 32 * 1024 * 1024;
/** Maximum distinct names of structured metadata. Each becomes a string and a map entry. */
export const MAX_METADATA_NAMES = 100_000;
/**
 * Maximum characters of all these names. In OTLP, a long key before many short ones could turn a small body
 * into gigabytes.
 */
export const MAX_METADATA_NAME_CHARACTERS = 16 * 1024 * 1024;
/**
 * Maximum bytes of one name, before OTLP maps are flattened. By default, all metadata of an entry has up to
 * 64 KiB.
 */
export const MAX_NAME_BYTES = 64 * 1024;
/**
 * Maximum bytes of the label text of one stream, which is read in a single step: 25 ms if all of it is
 * escapes. 15 labels of maximum size are 46 KB. The reference's limit is 16 MiB, with a message for it
 * (docs/dev/wire-format.md#order-of-checks).
 */
export const MAX_LABELS_TEXT_BYTES = 256 * 1024;
export const REFERENCE_LABELS_TEXT_BYTES = 16 * 1024 * 1024;
/**
 * Maximum fields of one entry or record, including nested ones. They are read in a single step of a few
 * milliseconds.
 */
export const MAX_FIELDS_OF_ENTRY = 300_000;
/**
 * Maximum bytes of an entry, a record or a JSON document that are read in a single step of a few
 * milliseconds. Texts above 1 MB do not count, because they are read in steps.
 */
export const MAX_DENSE_BYTES = 4 * 1024 * 1024;
/**
 * Maximum bytes that decoding creates: replacement characters, numbers and OTLP maps as text. Numbers become
 * up to ten times as long, so a body within its limits could otherwise become a gigabyte.
 */
export const MAX_MADE_BYTES = 64 * 1024 * 1024;
/** Maximum nesting of JSON values that are skipped. */
export const MAX_BODY_JSON_DEPTH = 1000;
/** Maximum nesting of maps and arrays in an OTLP attribute or body. SDKs send a handful of levels. */
export const MAX_OTLP_DEPTH = 64;
/**
 * Maximum bytes of arrays, maps and bytes of one record, resource or scope, as sent. They become text in a
 * single step of a few milliseconds.
 */
export const MAX_OTLP_VALUE_BYTES = 1024 * 1024;
/** Maximum values inside these, one object each. */
export const MAX_OTLP_VALUES = 65_536;
/**
 * Maximum metadata bytes of all entries. Those of a resource count for each of its records: the body contains
 * them once, but they are read for every entry. Four times the largest body.
 */
export const MAX_OTLP_METADATA_BYTES = 512 * 1024 * 1024;
/** Maximum distinct messages in the error of one push. Further ones are only counted. */
export const MAX_MESSAGES = 100;
/** Maximum characters of all these messages together. A message quotes labels and names. */
export const MAX_MESSAGE_CHARACTERS = 256 * 1024;

/** Returns the 413 error of a push that exceeds a limit. */
export function tooMany(what: string, limit: number): TooLargeError {
  return new TooLargeError(`request body too large: more than ${limit} ${what}`);
}

/**
 * Cost of a stream, resource or OTLP scope in bytes of a decoder step. Its labels become objects and text, 20
 * µs each.
 */
export const STREAM_STEP_BYTES = 1024;
/** Cost of a pair that a record has from its resource or scope, in bytes of a decoder step: 10 ns. */
export const SHARED_PAIR_STEP_BYTES = 4;
