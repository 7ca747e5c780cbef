/**
 * Custom resource of CloudFormation that fills and empties a bucket. With it, deploying needs only this
 * stack, and deleting the stack leaves nothing behind:
 *
 *     Create, Update   if the function has files (the explorer page), the bucket holds exactly these
 *     Delete           deletes all objects with all versions, because S3 deletes only empty buckets
 *
 * Pitfall: CloudFormation waits up to one hour for a response at the address in the event, and ignores the
 * result of the function. Every path through the handler ends with a response, which also reports failures.
 */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  DeleteObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ObjectIdentifier,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createS3Client } from '../shared/aws/clients.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { answerPage, PAGE_PATH } from '../shared/server/http/ui.ts';
import type { LambdaContext } from './lambda-event.ts';

/** Fields of the CloudFormation event that this function uses. */
export interface ResourceEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  /** Address of the response: an S3 URL that is signed for one PUT. */
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: {
    readonly BucketName?: string;
    /** Prefix of the keys of the files. Absent if the function has no files. */
    readonly KeyPrefix?: string;
  };
}

type ResourceHandler = (event: ResourceEvent, context: LambdaContext) => Promise<void>;

interface BucketContentParts {
  readonly client: Pick<S3Client, 'send'>;
  /** Folder that contains the files, without subfolders. */
  readonly folder: string;
  /** Sends the response. */
  readonly answer: (url: string, body: string) => Promise<void>;
}

/** Time reserved at the end of the function to report that time is over, in ms. */
const MARGIN_MS = 15_000;
const ANSWER_TIMEOUT_MS = 10_000;
/** Maximum number of keys that S3 accepts in one list or delete request. */
const PAGE_KEYS = 1000;
/** Shorter than the limit of CloudFormation, 4 KB for the whole response. */
const MAX_REASON_CHARACTERS = 1000;

export function createBucketContent(environment: Environment): ResourceHandler {
  const endpoint = environment.LOGBOOM_ENDPOINT || environment.AWS_ENDPOINT_URL || undefined;
  return bucketContentHandler({
    client: createS3Client({ endpoint }),
    folder: fileURLToPath(new URL('page/', import.meta.url)),
    answer: putAnswer,
  });
}

export function bucketContentHandler({ client, folder, answer }: BucketContentParts): ResourceHandler {
  return async (event, context) => {
    const { BucketName: bucket, KeyPrefix: prefix } = event.ResourceProperties;
    let failure: string | undefined;
    try {
      if (bucket === undefined) throw new Error('the property BucketName is missing');
      const remainingMs = () => context.getRemainingTimeInMillis() - MARGIN_MS;
      if (event.RequestType === 'Delete') await empty(client, bucket, remainingMs);
      else if (prefix !== undefined) await fill(client, bucket, { folder, prefix });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    const { StackId, RequestId, LogicalResourceId } = event;
    const body = {
      Status: failure === undefined ? 'SUCCESS' : 'FAILED',
      Reason: (failure ?? 'done').slice(0, MAX_REASON_CHARACTERS),
      // Pitfall: if an update returned a new name, CloudFormation would delete the old resource and so empty
      // the bucket.
      PhysicalResourceId: event.PhysicalResourceId ?? `content-of-${bucket ?? 'nothing'}`,
      StackId,
      RequestId,
      LogicalResourceId,
    };
    await answer(event.ResponseURL, JSON.stringify(body));
  };
}

/**
 * Deletes page by page, so that progress is permanent. Throws if the time ends first. Deleting the stack
 * again continues.
 */
async function empty(
  client: Pick<S3Client, 'send'>,
  bucket: string,
  remainingMs: () => number,
): Promise<void> {
  for (let deleted = 0; ; ) {
    if (remainingMs() <= 0)
      throw new Error(
        `bucket ${bucket} is not empty: deleted ${deleted} objects before the time limit; delete the stack again`,
      );
    const list = new ListObjectVersionsCommand({ Bucket: bucket, MaxKeys: PAGE_KEYS });
    const { Versions = [], DeleteMarkers = [] } = await client.send(list);
    const found = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (found.length === 0) return;
    await deleteAll(client, bucket, found);
    deleted += found.length;
  }
}

/**
 * Puts the files first, then the page that refers to them, and deletes old files last. The page is complete
 * at every moment.
 */
async function fill(
  client: Pick<S3Client, 'send'>,
  bucket: string,
  { folder, prefix }: { readonly folder: string; readonly prefix: string },
): Promise<void> {
  const names = (await readdir(folder)).sort(
    (a, b) => Number(a === 'index.html') - Number(b === 'index.html'),
  );
  const read = async (name: string) => ({ bytes: await readFile(join(folder, name)) });
  for (const name of names) {
    // Uses the headers of the local gateway. Skips files that the gateway does not serve, because the page
    // does not use them.
    const request = { method: 'GET', path: PAGE_PATH + name, rawQuery: '', headers: {} };
    const answered = await answerPage(request, { read });
    if (answered?.status !== 200) continue;
    const put = new PutObjectCommand({
      Bucket: bucket,
      Key: prefix + name,
      Body: answered.body,
      ContentType: answered.headers['content-type'],
      CacheControl: answered.headers['cache-control'],
    });
    await client.send(put);
  }
  const wanted = new Set(names.map(name => prefix + name));
  const { Contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: bucket, MaxKeys: PAGE_KEYS }),
  );
  const old = Contents.filter(({ Key = '' }) => !wanted.has(Key)).map(({ Key }) => ({ Key }));
  if (old.length > 0) await deleteAll(client, bucket, old);
}

async function deleteAll(
  client: Pick<S3Client, 'send'>,
  bucket: string,
  objects: readonly { readonly Key: string | undefined; readonly VersionId?: string | undefined }[],
): Promise<void> {
  const Objects = objects.filter((object): object is ObjectIdentifier => object.Key !== undefined);
  const { Errors = [] } = await client.send(
    new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
  );
  if (Errors.length > 0)
    throw new Error(`cannot delete object ${Errors[0].Key} of bucket ${bucket}: ${Errors[0].Message}`);
}

async function putAnswer(url: string, body: string): Promise<void> {
  // S3 refuses a content type that is not part of the signature.
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': '' },
    body,
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`CloudFormation refused the response: status ${answer.status}`);
}
