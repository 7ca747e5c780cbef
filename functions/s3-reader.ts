/** Reads objects of other buckets than the store's as streams: a log file need not fit the memory of the function. */
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { createCaller, S3_LIMITS } from '../shared/aws/caller.ts';
import { type ClientOptions, createS3Client } from '../shared/aws/clients.ts';
import { describe } from '../shared/aws/errors.ts';
import { systemClock } from '../shared/base/runtime/system-clock.ts';
import type { ReadObject } from './s3-objects-handler.ts';

/** Retries cover the opening. A stream that breaks ends the function, and the event is repeated. */
export function createObjectReader(options: ClientOptions): ReadObject {
  const client = createS3Client(options);
  const call = createCaller({ clock: systemClock, limits: S3_LIMITS });
  return ({ bucket, key, versionId }) =>
    call({ operation: 'GetObject', target: `${bucket}/${key}` }, async () => {
      try {
        const command = new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: versionId });
        // Without the attempt's signal: it would cut the stream when the time of the opening is up.
        const { Body, LastModified } = await client.send(command);
        if (Body === undefined || LastModified === undefined)
          throw new Error('an answer without a body or a date');
        return { body: Body as AsyncIterable<Uint8Array>, lastModifiedMs: LastModified.getTime() };
      } catch (error) {
        if (describe(error).name === 'NoSuchKey') return undefined;
        throw error;
      }
    });
}
