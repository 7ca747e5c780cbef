/** Limits of the attributes of a Firehose request. Firehose sends at most 50, of about 70 KB together. */
export const MAX_ATTRIBUTES = 50;
export const MAX_ATTRIBUTES_BYTES = 128 * 1024;
