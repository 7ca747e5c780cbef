/**
 * Files and state of the export of closed days in a bucket of the user. Unlike chunks, the state is overwritten.
 */
import type { Caller } from '../shared/aws/caller.ts';
import { s3ObjectStore } from '../shared/aws/s3-object-store.ts';
import type { S3Requests } from '../shared/aws/s3-requests.ts';
import type { Ids } from '../shared/base/ports/clock.ts';
import { ObjectNotFoundError } from '../shared/base/ports/object-store.ts';
import type { OpenDataStore } from '../shared/server/open-data/day-notes.ts';

interface OpenDataBucketOptions {
  readonly requests: S3Requests;
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  readonly call: Caller;
  readonly ids: Ids;
}

/** State has a few names of files. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

export function openDataBucket({
  requests,
  bucket,
  prefix,
  call,
  ids,
}: OpenDataBucketOptions): OpenDataStore {
  const objects = s3ObjectStore({ requests, bucket, call, ids, maxReadBytes: MAX_READ_BYTES });
  return {
    async read(key) {
      try {
        return await objects.get(prefix + key);
      } catch (error) {
        if (error instanceof ObjectNotFoundError) return undefined;
        throw error;
      }
    },

    async write(key, bytes) {
      await call({ operation: 'PutObject', target: `${bucket}/${prefix}${key}` }, ({ signal }) =>
        requests.put(prefix + key, bytes, undefined, signal),
      );
    },

    remove: key => objects.delete(prefix + key),
  };
}
