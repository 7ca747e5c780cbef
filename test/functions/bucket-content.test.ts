import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { backlogReporter } from '../../functions/backlog.ts';
import { bucketContentHandler, type ResourceEvent } from '../../functions/bucket-content-handler.ts';

interface Put {
  readonly ContentType?: string;
  readonly CacheControl?: string;
}

/** A bucket with the operations that the handler uses; each object has the versions of its number. */
function fakeBucket(objects: Map<string, Put>, versions = new Map<string, number>()) {
  const order: string[] = [];
  const send = async ({ constructor: { name }, input }: { constructor: { name: string }; input: never }) => {
    const asked = input as {
      Key: string;
      MaxKeys: number;
      Delete: { Objects: { Key: string }[] };
    } & Put;
    switch (name) {
      case 'PutObjectCommand':
        objects.set(asked.Key, { ContentType: asked.ContentType, CacheControl: asked.CacheControl });
        order.push(`put ${asked.Key}`);
        return {};
      case 'ListObjectsV2Command':
        return { Contents: [...objects.keys()].map(Key => ({ Key })) };
      case 'ListObjectVersionsCommand': {
        const all = [...versions].flatMap(([Key, count]) =>
          Array.from({ length: count }, (_, i) => ({ Key, VersionId: `${i}` })),
        );
        return { Versions: all.slice(0, asked.MaxKeys) };
      }
      case 'DeleteObjectsCommand':
        for (const { Key } of asked.Delete.Objects) {
          order.push(`delete ${Key}`);
          objects.delete(Key);
          const left = (versions.get(Key) ?? 1) - 1;
          if (left === 0) versions.delete(Key);
          else versions.set(Key, left);
        }
        return {};
      default:
        throw new Error(name);
    }
  };
  return { client: { send } as unknown as Pick<S3Client, 'send'>, order };
}

const eventOf = (event: Partial<ResourceEvent>): ResourceEvent => ({
  RequestType: 'Create',
  ResponseURL: 'https://answer',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Content',
  ResourceProperties: { BucketName: 'page', KeyPrefix: 'ui/' },
  ...event,
});
const withMs = (ms: number) => ({ awsRequestId: 'r', getRemainingTimeInMillis: () => ms });

describe('contents of a bucket of the stack', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'logboom-page-'));
    for (const name of ['index.html', 'main-1.js', 'notes.txt']) writeFileSync(join(folder, name), name);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function answerTo(event: ResourceEvent, client: Pick<S3Client, 'send'>, remainingMs = 900_000) {
    const answers: [string, Record<string, string>][] = [];
    const answer = async (url: string, body: string) => {
      answers.push([url, JSON.parse(body)]);
    };
    await bucketContentHandler({ client, folder, answer })(event, withMs(remainingMs));
    expect(answers).toHaveLength(1);
    expect(answers[0][0]).toBe('https://answer');
    expect(answers[0][1]).toMatchObject({
      StackId: 'stack',
      RequestId: 'request',
      LogicalResourceId: 'Content',
    });
    return answers[0][1];
  }

  test('are the files, with their types; deletes old ones after the index is written', async () => {
    const objects = new Map<string, Put>([['ui/main-0.js', {}]]);
    const { client, order } = fakeBucket(objects);
    expect(await answerTo(eventOf({}), client)).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'content-of-page',
    });
    expect(order).toEqual(['put ui/main-1.js', 'put ui/index.html', 'delete ui/main-0.js']);
    expect(objects.get('ui/index.html')).toEqual({
      ContentType: 'text/html; charset=utf-8',
      CacheControl: 'no-cache',
    });
    expect(objects.get('ui/main-1.js')).toMatchObject({ CacheControl: expect.stringContaining('immutable') });
  });

  test('an update keeps its name, or the bucket would be emptied as the one before', async () => {
    const { client } = fakeBucket(new Map());
    const event = eventOf({ RequestType: 'Update', PhysicalResourceId: 'as-before' });
    expect(await answerTo(event, client)).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'as-before',
    });
  });

  test('puts nothing if there are no files', async () => {
    const { client, order } = fakeBucket(new Map([['acme/chunks/1', {}]]));
    await answerTo(eventOf({ ResourceProperties: { BucketName: 'chunks' } }), client);
    expect(order).toEqual([]);
  });

  test('deleting takes all versions of all objects, page by page', async () => {
    const versions = new Map(Array.from({ length: 700 }, (_, i) => [`acme/chunks/${i}`, 2]));
    const { client } = fakeBucket(new Map(), versions);
    expect(await answerTo(eventOf({ RequestType: 'Delete' }), client)).toMatchObject({ Status: 'SUCCESS' });
    expect(versions.size).toBe(0);
  });

  test.each<[string, Partial<ResourceEvent>, number, RegExp]>([
    ['time is over', { RequestType: 'Delete' }, 1000, /before the time limit; delete the stack again/],
    ['no bucket is named', { ResourceProperties: {} }, 900_000, /BucketName is missing/],
  ])('reports a failure if %s', async (_, more, remainingMs, reason) => {
    const { client } = fakeBucket(new Map(), new Map([['a', 1]]));
    const answer = await answerTo(eventOf(more), client, remainingMs);
    expect(answer).toMatchObject({ Status: 'FAILED', Reason: expect.stringMatching(reason) });
  });
});

describe('the backlog', () => {
  const backlogOf = (oldestAnnouncedMs: number | undefined) => ({
    days: { count: 3, atLeast: false },
    oldestAnnouncedMs,
    garbageLists: { count: 2, atLeast: false },
  });

  test('is reported regularly, with the age of its oldest part', async () => {
    let nowMs = 10_000_000;
    const printed: string[] = [];
    const tell = backlogReporter({
      read: async () => backlogOf(nowMs - 7_000),
      functionName: 'm',
      nowMs: () => nowMs,
      print: line => printed.push(line),
      warn: error => {
        throw error;
      },
    });
    await tell();
    nowMs += 60_000;
    await tell();
    expect(printed).toHaveLength(1);
    expect(JSON.parse(printed[0])).toMatchObject({
      FunctionName: 'm',
      BacklogAge: 7,
      BacklogDays: 3,
      BacklogGarbage: 2,
    });
    nowMs += 300_000;
    await tell();
    expect(printed).toHaveLength(2);
  });

  test('an empty backlog has no age; one that cannot be read is a warning', async () => {
    const printed: string[] = [];
    const warnings: unknown[] = [];
    const parts = {
      functionName: 'm',
      nowMs: () => 1000,
      print: (line: string) => printed.push(line),
      warn: (error: unknown) => warnings.push(error),
    };
    await backlogReporter({ ...parts, read: async () => backlogOf(undefined) })();
    expect(JSON.parse(printed[0]).BacklogAge).toBe(0);
    const error = new Error('throttled');
    await backlogReporter({ ...parts, read: async () => Promise.reject(error) })();
    expect(warnings).toEqual([error]);
  });
});
