/**
 * Implements the object store port on a bucket of S3. A put is conditional (`If-None-Match: *`), so racing
 * writers write a key once. Reads request byte ranges. One call is one request. Callers that want ranges in
 * parallel call in parallel, and caller.ts bounds how many run.
 *
 * Readers need the permission s3:ListBucket (lib/rights.ts). Without it S3 responds with 403 instead of 404
 * for a missing key. The two are not treated alike, because a lost permission would look like lost objects.
 *
 * Pitfall: "exists" (412) can refer to our own object, after an attempt without a response or next to another
 * request of the same put. Each put stores an ID with the object, and compares it in this case.
 */
import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { compareUtf8 } from '../base/model/bytes.ts';
import type { Ids } from '../base/ports/clock.ts';
import {
  checkByteRange,
  checkObjectKey,
  checkTailLength,
  listLimit,
  MAX_OBJECT_KEY_BYTES,
  rangePastEnd,
} from '../base/ports/object-key.ts';
import {
  type ListPage,
  type ObjectInfo,
  ObjectNotFoundError,
  type ObjectStore,
  type ReadOptions,
  wholeBody,
} from '../base/ports/object-store.ts';
import type { Attempt, Call, Caller } from './caller.ts';
import { describe, UnexpectedAnswerError } from './errors.ts';
import type { Hedger } from './hedge.ts';
import { type AnsweredRange, readRangeBody } from './s3-body.ts';
import type { ObjectHead, S3Requests } from './s3-requests.ts';

/** Maximum size of a response that is read into memory. Chunks are far smaller. */
const MAX_READ_BYTES = 1024 * 1024 * 1024;
/** Maximum requests for one page of a listing. S3 may return pages without keys after many deletes. */
const MAX_EMPTY_PAGES = 100;
const PUT_ID_BYTES = 12;

interface S3ObjectStoreOptions {
  readonly requests: S3Requests;
  /** Name for messages. */
  readonly bucket: string;
  readonly call: Caller;
  readonly ids: Ids;
  /** Sends slow puts a second time. Default: each put is one call. */
  readonly puts?: Hedger;
  /** Default: MAX_READ_BYTES. */
  readonly maxReadBytes?: number;
}

export function s3ObjectStore(options: S3ObjectStoreOptions): ObjectStore {
  const { requests, bucket, call, ids, puts, maxReadBytes = MAX_READ_BYTES } = options;
  const callOn = (operation: string, key: string, unwanted?: AbortSignal): Call => {
    return { operation, target: `${bucket}/${key}`, signal: unwanted };
  };

  const headObject = async (key: string, { signal }: Attempt): Promise<ObjectHead | undefined> => {
    try {
      return await requests.head(key, signal);
    } catch (error) {
      if (describe(error).status === 404) return undefined;
      throw error;
    }
  };

  const head = async (key: string): Promise<ObjectInfo | undefined> => {
    const answer = await call(callOn('HeadObject', key), attempt => headObject(key, attempt));
    return answer && { key, size: sizeOf(answer.size) };
  };

  /** Resolves with undefined if the range is not satisfiable: past the end, or in an empty object. */
  const read = (
    key: string,
    range: string | undefined,
    maxBytes: number,
    unwanted?: AbortSignal,
  ): Promise<AnsweredRange | undefined> =>
    call(callOn('GetObject', key, unwanted), async ({ signal }) => {
      try {
        return await readRangeBody(await requests.get(key, range, signal), maxBytes);
      } catch (error) {
        const { name, status } = describe(error);
        if (name === 'NoSuchKey') throw new ObjectNotFoundError(key);
        if (status === 416) return undefined;
        throw error;
      }
    });

  /** Returns the size of an object whose range was not satisfiable. */
  const sizeAfterRefusal = async (key: string): Promise<number> => {
    const info = await head(key);
    if (info === undefined) throw new ObjectNotFoundError(key);
    return info.size;
  };

  return {
    isDistant: true,

    async putIfAbsent(key, body) {
      checkObjectKey(key);
      const bytes = wholeBody(body);
      const putId = ids.randomHex(PUT_ID_BYTES);
      let sent = 0;
      const attemptPut = async (attempt: Attempt): Promise<boolean> => {
        try {
          await requests.put(key, bytes, putId, attempt.signal);
          return true;
        } catch (error) {
          if (describe(error).status !== 412) throw error;
          if (!attempt.mayHaveHappened && sent === 1) return false;
          const found = await headObject(key, attempt);
          return found?.putId === putId;
        }
      };
      const put = ({ signal }: ReadOptions = {}): Promise<boolean> => {
        sent++;
        return call(callOn('PutObject', key, signal), attemptPut);
      };
      return puts === undefined ? put() : puts.run(bytes.byteLength, {}, put);
    },

    async get(key) {
      checkObjectKey(key);
      const answer = await read(key, undefined, maxReadBytes);
      if (answer === undefined)
        throw new UnexpectedAnswerError(`S3 returned 416 for a read of the whole object ${key}`);
      return answer.bytes;
    },

    async getRange(key, start, end, { signal } = {}) {
      checkObjectKey(key);
      checkByteRange(start, end);
      const most = Math.min(end - start, maxReadBytes);
      const answer = await read(key, `bytes=${start}-${end - 1}`, most, signal);
      if (answer === undefined) throw rangePastEnd(key, start, await sizeAfterRefusal(key));
      if (answer.size === 0) throw rangePastEnd(key, start, 0);
      if (answer.start !== start)
        throw new UnexpectedAnswerError(
          `S3 returned bytes from ${answer.start} instead of ${start} of ${key}`,
        );
      return answer.bytes;
    },

    async getTail(key, length, { signal } = {}) {
      checkObjectKey(key);
      checkTailLength(length);
      const answer = await read(key, `bytes=-${length}`, Math.min(length, maxReadBytes), signal);
      if (answer === undefined) {
        const size = await sizeAfterRefusal(key);
        if (size > 0)
          throw new UnexpectedAnswerError(`S3 returned 416 for the tail of ${key}, which has ${size} bytes`);
        return { bytes: Buffer.alloc(0), size };
      }
      const { bytes, start, size } = answer;
      if (start + bytes.byteLength !== size || bytes.byteLength !== Math.min(length, size))
        throw new UnexpectedAnswerError(
          `S3 returned bytes from ${start} of ${size} instead of the tail of ${key}`,
        );
      return { bytes, size };
    },

    async head(key) {
      checkObjectKey(key);
      return head(key);
    },

    async delete(key) {
      checkObjectKey(key);
      await call(callOn('DeleteObject', key), ({ signal }) => requests.delete(key, signal));
    },

    async list(prefix, { after = '', limit } = {}): Promise<ListPage> {
      const most = listLimit(limit);
      // No key is that long, and S3 would refuse the request.
      if (Buffer.byteLength(prefix) > MAX_OBJECT_KEY_BYTES) return { objects: [] };
      let token: string | undefined;
      for (let page = 0; page < MAX_EMPTY_PAGES; page++) {
        const answer: ListObjectsV2CommandOutput = await call(
          callOn('ListObjectsV2', prefix),
          ({ signal }) => {
            const input = {
              Prefix: prefix === '' ? undefined : prefix,
              StartAfter: after === '' || token !== undefined ? undefined : after,
              ContinuationToken: token,
              MaxKeys: most,
              // XML cannot represent every character of a key, and parsers trim spaces.
              EncodingType: 'url' as const,
            };
            return requests.list(input, signal);
          },
        );
        const objects = (answer.Contents ?? []).map(({ Key = '', Size }) => ({
          key: decodeKey(Key),
          size: sizeOf(Size),
        }));
        const last = objects.at(-1)?.key;
        if (answer.IsTruncated !== true) return { objects };
        if (last !== undefined) {
          // A listing that does not advance would never end.
          if (compareUtf8(last, after) <= 0)
            throw new UnexpectedAnswerError(
              `listing after ${after} did not advance: its last key is ${last}`,
            );
          return { objects, next: last };
        }
        token = answer.NextContinuationToken;
        if (token === undefined) break;
      }
      throw new UnexpectedAnswerError(`listing of ${prefix} returned ${MAX_EMPTY_PAGES} pages without keys`);
    },
  };
}

function sizeOf(size: number | undefined): number {
  if (size === undefined)
    throw new UnexpectedAnswerError('the response does not declare the size of the object');
  return size;
}

/** Decodes a key of `encoding-type=url`. As in a form, a plus sign is a space. */
function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll('+', ' '));
}
