/**
 * Reads objects of other buckets as streams, because a log file may be larger than the memory of the
 * function.
 */
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { createCaller, S3_LIMITS } from '../shared/aws/caller.ts';
import { createS3Client } from '../shared/aws/clients.ts';
import { describe } from '../shared/aws/errors.ts';
import type { ClientOptions } from '../shared/aws/service-endpoint.ts';
import { SYSTEM_CLOCK } from '../shared/base/runtime/system-clock.ts';
import type { ReadObject } from './s3-objects-handler.ts';

/** Retries cover only the opening. A stream that breaks fails the function, and Lambda retries the event. */
export function createObjectReader(options: ClientOptions): ReadObject {
  const client = createS3Client(options);
  const call = createCaller({ clock: SYSTEM_CLOCK, limits: S3_LIMITS });
  return ({ bucket, key, versionId }) =>
    call({ operation: 'GetObject', target: `${bucket}/${key}` }, async () => {
      try {
        const command = new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: versionId });
        // Pitfall: the signal of the attempt would cut the stream when the timeout of the opening ends, so it
        // is not passed.
        const { Body, LastModified } = await client.send(command);
        if (Body === undefined || LastModified === undefined)
          throw new Error('S3 response without a body or a modification date');
        return { body: Body as AsyncIterable<Uint8Array>, lastModifiedMs: LastModified.getTime() };
      } catch (error) {
        if (describe(error).name === 'NoSuchKey') return undefined;
        throw error;
      }
    });
}
