/** Bounds of the receivers beside those of every push (ingest/bounds.ts). */

/** Objects inside objects whose fields get names of their own; deeper ones stay JSON text in one field. */
export const MAX_FLATTENED_DEPTH = 8;
/** Fields of one document that are told apart. Above the limit of metadata the document is kept whole anyway. */
export const MAX_FIELDS = 1024;
/** Of the name of a field with those of the objects around it: a long name may not be repeated by thousands inside. */
export const MAX_PATH_LENGTH = 1024;
/** Action line of a bulk request; the longest in use name an index, an id, a routing and a pipeline. */
export const MAX_ACTION_BYTES = 16 * 1024;
/** Items of one bulk request: the answer takes about 100 bytes for each. Agents send some thousand. */
export const MAX_BULK_ITEMS = 250_000;
/** As Elasticsearch. */
export const MAX_INDEX_NAME_BYTES = 255;
/** Names in one of the lists that a request gives, for example `_stream_fields`. */
export const MAX_LISTED_FIELDS = 256;
/** Records of one request of Firehose: 64 MiB hold no more in earnest, a record costs 5 KB of its quota. */
export const MAX_RECORDS = 500_000;
/**
 * Bytes of lines, with the metadata that each brings along, that one push of an object takes: bounds the memory of the
 * function that reads it. A third of the default burst (6 MiB), because the paths of a document's fields repeat names.
 */
export const BATCH_BYTES = 2 * 1024 * 1024;
/** Of one object, unpacked: what a function of Lambda can store in its 15 minutes at 6 MB/s. */
export const MAX_OBJECT_BYTES = 5 * 1024 * 1024 * 1024;
