/** Limits of the receivers, in addition to those of every push (ingest/bounds.ts). */

/** Maximum nesting of objects whose fields get separate names. Deeper objects stay JSON text in one field. */
export const MAX_FLATTENED_DEPTH = 8;
/**
 * Maximum number of separate fields of one document. Above the limit of metadata the document becomes the
 * line anyway.
 */
export const MAX_DOCUMENT_FIELDS = 1024;
/** Maximum length of a field's path. It keeps thousands of inner fields from repeating a long name. */
export const MAX_PATH_LENGTH = 1024;
/**
 * Maximum action line of a bulk request. The longest in use name an index, an ID, a routing and a pipeline.
 */
export const MAX_ACTION_BYTES = 16 * 1024;
/**
 * Maximum items of one bulk request. The response takes about 100 bytes per item. Agents send a few thousand.
 */
export const MAX_BULK_ITEMS = 250_000;
/** Same limit as Elasticsearch. */
export const MAX_INDEX_NAME_BYTES = 255;
/** Maximum names in one list of a request, for example `_stream_fields`. */
export const MAX_LISTED_FIELDS = 256;
/**
 * Maximum records of one Firehose request. 64 MiB never hold more in practice: a record costs 5 KB of its
 * quota.
 */
export const MAX_RECORDS = 500_000;
/**
 * Maximum bytes of lines, including the metadata added to each, in one push of an object. It bounds the
 * memory of the function that reads the object. It is a third of the default burst (6 MiB), because the paths
 * of a document's fields repeat names.
 */
export const OBJECT_BATCH_BYTES = 2 * 1024 * 1024;
/**
 * Maximum decompressed size of an object: a Lambda function can store this much in its 15 minutes at 6 MB/s.
 */
export const MAX_OBJECT_BYTES = 5 * 1024 * 1024 * 1024;
