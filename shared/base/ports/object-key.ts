/**
 * Validates object keys. One rule holds for every store, so that a key that works on one machine also works
 * in a bucket. The rule refuses empty segments, `.` and `..`, because file systems and several S3 clients
 * interpret them. A broken key is a defect of the caller: requests are checked for valid tenants on entry.
 */

/** Maximum key length: below S3's 1,024 bytes, so that a deployment can add a prefix. */
export const MAX_OBJECT_KEY_BYTES = 900;

export class InvalidKeyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidKeyError';
  }
}

/** Throws InvalidKeyError unless `key` may name an object. */
export function checkObjectKey(key: string): void {
  const refuse = (reason: string): never => {
    throw new InvalidKeyError(`object key ${JSON.stringify(key.slice(0, 200))} ${reason}`);
  };
  if (!key.isWellFormed()) refuse('is not well-formed text');
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_OBJECT_KEY_BYTES) refuse(`has ${bytes} bytes, limit: ${MAX_OBJECT_KEY_BYTES}`);
  if (/[\u0000-\u001f\u007f]/.test(key)) refuse('contains a control character');
  for (const segment of key.split('/')) {
    if (segment === '') refuse('contains an empty segment');
    if (segment === '.' || segment === '..') refuse(`contains the segment ${segment}`);
  }
}

/** Maximum number of objects in one page of a listing, as in S3. */
const MAX_LIST_LIMIT = 1000;

/** Returns the page size of a listing. Throws RangeError unless it is a whole number from 1. */
export function listLimit(limit: number | undefined): number {
  if (limit === undefined) return MAX_LIST_LIMIT;
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit ${limit} is not a whole number from 1`);
  return Math.min(limit, MAX_LIST_LIMIT);
}

/** Throws RangeError unless `start` (inclusive) to `end` (exclusive) is a range of at least one byte. */
export function checkByteRange(start: number, end: number): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end <= start) {
    throw new RangeError(`byte range ${start} to ${end} is empty or not whole numbers from 0`);
  }
}

/** Throws RangeError unless `length` is a whole number from 1. */
export function checkTailLength(length: number): void {
  if (!Number.isSafeInteger(length) || length < 1) {
    throw new RangeError(`tail length ${length} is not a whole number from 1`);
  }
}

/** Returns the error for a range that starts at or after the end of its object. */
export function rangePastEnd(key: string, start: number, size: number): RangeError {
  return new RangeError(`byte ${start} is past the end of object ${key} of ${size} bytes`);
}
