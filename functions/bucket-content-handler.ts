/**
 * A custom resource of CloudFormation, so that deploying needs nothing but this stack, and deleting it leaves nothing:
 *
 *     Create, Update   where the function was given files (the explorer page), the bucket holds them, and nothing else
 *     Delete           the bucket is emptied, all versions of its objects included, because S3 deletes no other
 *
 * What a reader would get wrong: CloudFormation waits for an answer at the address in the event, for an hour; the result of the
 * function means nothing to it. So every way through here ends with an answer, and what fails is told in it.
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
import { answerPage, PAGE_PATH } from '../shared/server/http/ui.ts';
import type { LambdaContext } from './lambda-event.ts';
import type { Environment } from './settings.ts';

/** What CloudFormation sends, as far as it is used here. */
export interface ResourceEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  /** Where the answer goes: an address of S3 that is signed for one put. */
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: {
    readonly BucketName?: string;
    /** What the keys of the files begin with; absent: the function has no files to put. */
    readonly KeyPrefix?: string;
  };
}

export type ResourceHandler = (event: ResourceEvent, context: LambdaContext) => Promise<void>;

export interface BucketContentParts {
  readonly client: Pick<S3Client, 'send'>;
  /** Folder with the files, all in one level. */
  readonly folder: string;
  /** Puts the answer. */
  readonly answer: (url: string, body: string) => Promise<void>;
}

/** Left to tell of the end of the time, ms. */
const MARGIN_MS = 15_000;
const ANSWER_TIMEOUT_MS = 10_000;
/** What one call lists and deletes: the most that S3 takes. */
const PAGE_KEYS = 1000;
/** CloudFormation takes 4 KB in all. */
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
      // Another name on an update would make CloudFormation delete the one before, and so empty the bucket.
      PhysicalResourceId: event.PhysicalResourceId ?? `content-of-${bucket ?? 'nothing'}`,
      StackId,
      RequestId,
      LogicalResourceId,
    };
    await answer(event.ResponseURL, JSON.stringify(body));
  };
}

/** Page by page, so that what is done stays done. Throws where the time ends first: deleting the stack again goes on. */
async function empty(
  client: Pick<S3Client, 'send'>,
  bucket: string,
  remainingMs: () => number,
): Promise<void> {
  for (let deleted = 0; ; ) {
    if (remainingMs() <= 0)
      throw new Error(
        `${deleted} objects of ${bucket} are deleted, and there are more: delete the stack again`,
      );
    const list = new ListObjectVersionsCommand({ Bucket: bucket, MaxKeys: PAGE_KEYS });
    const { Versions = [], DeleteMarkers = [] } = await client.send(list);
    const found = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (found.length === 0) return;
    await deleteAll(client, bucket, found);
    deleted += found.length;
  }
}

/** The files first, the page that names them last, and what it named before after that: it is whole at every moment. */
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
    // As the local gateway sends it; what it does not serve is none of the page's.
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
    throw new Error(`${Errors[0].Key} of ${bucket} cannot be deleted: ${Errors[0].Message}`);
}

async function putAnswer(url: string, body: string): Promise<void> {
  // S3 refuses a content type that the address was not signed for.
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': '' },
    body,
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`CloudFormation did not take the answer: status ${answer.status}`);
}
