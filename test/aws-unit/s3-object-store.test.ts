import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CallLimits } from '../../shared/aws/caller.ts';
import {
  AttemptTimeoutError,
  AwsCallError,
  CutBodyError,
  UnexpectedAnswerError,
} from '../../shared/aws/errors.ts';
import { s3ObjectStore } from '../../shared/aws/s3-object-store.ts';
import { createS3Requests, type S3Requests } from '../../shared/aws/s3-requests.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../shared/base/ports/object-store.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { errorOf, testCaller, useTestCredentials } from './support/limits.ts';
import { type Answer, type ScriptedServer, s3Error, startScriptedServer } from './support/scripted-server.ts';

let server: ScriptedServer;
let requests: S3Requests;
beforeAll(async () => {
  useTestCredentials();
  server = await startScriptedServer();
  requests = createS3Requests('logs', { endpoint: server.url });
});
afterAll(async () => {
  requests.destroy();
  await server.close();
});

const open = (limits: Partial<CallLimits> = {}, maxReadBytes?: number): ObjectStore =>
  s3ObjectStore({ requests, bucket: 'logs', call: testCaller(limits), ids: seededIds(1), maxReadBytes });

const OK: Answer = { status: 200 };
const TAKEN = s3Error(412, 'PreconditionFailed');
const SLOW_DOWN = s3Error(503, 'SlowDown');
const range = (body: string, start: number, size: number): Answer => ({
  status: 206,
  headers: { 'content-range': `bytes ${start}-${start + body.length - 1}/${size}` },
  body,
});

describe('a put', () => {
  test('is conditional, percent-encodes its key and has a checksum', async () => {
    server.script(OK);
    expect(await open().putIfAbsent('acme/a b+%41é', Buffer.from('body'))).toBe(true);
    const [{ method, url, headers, body }] = server.seen;
    expect([method, url.split('?')[0], body]).toEqual(['PUT', '/logs/acme/a%20b%2B%2541%C3%A9', 'body']);
    expect(headers).toMatchObject({
      'if-none-match': '*',
      'content-length': '4',
      'x-amz-checksum-crc32': expect.any(String),
      'x-amz-meta-put-id': expect.stringMatching(/^[0-9a-f]{24}$/),
    });
    expect(headers.expect).toBeUndefined();
  });

  test('returns false for a put of an existing key', async () => {
    server.script(TAKEN);
    expect(await open().putIfAbsent('k', Buffer.from('x'))).toBe(false);
    expect(server.seen).toHaveLength(1);
  });

  test('repeats a put that conflicts with another one (409) with the same body', async () => {
    server.script(s3Error(409, 'ConditionalRequestConflict'), 'reset', OK);
    expect(await open().putIfAbsent('k', Buffer.from('x'))).toBe(true);
    expect(server.seen.map(request => request.body)).toEqual(['x', 'x', 'x']);
    server.script(s3Error(409, 'ConditionalRequestConflict'), TAKEN);
    expect(await open().putIfAbsent('k', Buffer.from('x'))).toBe(false);
  });

  test('checks whose object it is if the key is taken after a lost response', async () => {
    // The store takes its ids from a seed, so the first put of each has the same one.
    server.script(OK);
    await open().putIfAbsent('k', Buffer.from('x'));
    const putId = server.seen[0].headers['x-amz-meta-put-id'] as string;
    for (const [found, mine] of [
      [putId, true],
      ['0123456789abcdef01234567', false],
    ] as const) {
      server.script('reset', TAKEN, { status: 200, headers: { 'x-amz-meta-put-id': found } });
      expect(await open().putIfAbsent('k', Buffer.from('x'))).toBe(mine);
      expect(server.seen.map(request => request.method)).toEqual(['PUT', 'PUT', 'HEAD']);
    }
  });
});

describe('failures', () => {
  test('lasting SlowDown throws ThrottledError', async () => {
    server.script(SLOW_DOWN, SLOW_DOWN, SLOW_DOWN, SLOW_DOWN, OK);
    const error = await errorOf(open().putIfAbsent('k', Buffer.from('x')));
    expect(error).toBeInstanceOf(ThrottledError);
    expect(error.message).toBe('PutObject of logs/k was refused 4 times');
    expect(server.left).toBe(1);
  });

  test('repeats temporary failures only', async () => {
    server.script(s3Error(500, 'InternalError'), SLOW_DOWN, 'reset', { status: 200, body: 'good' });
    expect(String(await open().get('k'))).toBe('good');
    server.script(s3Error(403, 'AccessDenied'), OK);
    expect(await errorOf(open().get('k'))).toMatchObject({
      name: 'AwsCallError',
      code: 'AccessDenied',
      status: 403,
    });
    server.script(s3Error(404, 'NoSuchBucket'), OK);
    expect(await errorOf(open().get('k'))).toMatchObject({ name: 'AwsCallError', code: 'NoSuchBucket' });
    expect(server.left).toBe(1);
  });

  test('reports a missing key', async () => {
    for (const read of [
      (store: ObjectStore) => store.get('k'),
      (store: ObjectStore) => store.getRange('k', 0, 1),
      (store: ObjectStore) => store.getTail('k', 1),
    ]) {
      server.script(s3Error(404, 'NoSuchKey'));
      expect(await errorOf(read(open()))).toBeInstanceOf(ObjectNotFoundError);
    }
    server.script({ status: 404 });
    expect(await open().head('k')).toBeUndefined();
  });

  test('repeats an attempt without a response, or whose body stops', async () => {
    const store = open({ attemptTimeoutMs: 60, maxAttempts: 2 });
    server.script('stall', { status: 200, body: 'late' });
    expect(String(await store.get('k'))).toBe('late');
    server.script('stall', 'stall');
    const error = await errorOf(store.get('k'));
    expect(error).toBeInstanceOf(AwsCallError);
    expect(error.cause).toBeInstanceOf(AttemptTimeoutError);
  });

  test('reads a truncated body again', async () => {
    server.script({ status: 200, body: '0123456789', cutAfterBytes: 4 }, { status: 200, body: '0123456789' });
    expect(String(await open().get('k'))).toBe('0123456789');
    expect(server.seen).toHaveLength(2);
    const cut = { status: 200, body: '0123456789', cutAfterBytes: 4 };
    server.script(cut, cut, cut, cut);
    const error = await errorOf(open().get('k'));
    expect(error).toBeInstanceOf(AwsCallError);
    expect(error.cause).not.toBeInstanceOf(CutBodyError);
    expect((error as AwsCallError).attempts).toBe(4);
  });
});

describe('ranges', () => {
  test('are requested by their first and last byte', async () => {
    server.script(range('3456', 3, 10), range('89', 8, 10), range('6789', 6, 10));
    const store = open();
    expect(String(await store.getRange('k', 3, 7))).toBe('3456');
    expect(String(await store.getRange('k', 8, Number.MAX_SAFE_INTEGER))).toBe('89');
    expect(await store.getTail('k', 4)).toEqual({ bytes: Buffer.from('6789'), size: 10 });
    expect(server.seen.map(request => request.headers.range)).toEqual([
      'bytes=3-6',
      `bytes=8-${Number.MAX_SAFE_INTEGER - 1}`,
      'bytes=-4',
    ]);
  });

  test('can be past the end, and of an empty object', async () => {
    const head = (size: number): Answer => ({ status: 200, headers: { 'content-length': String(size) } });
    const notSatisfiable = s3Error(416, 'InvalidRange');
    server.script(notSatisfiable, head(10));
    const error = await errorOf(open().getRange('k', 12, 14));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe('byte 12 is past the end of object k of 10 bytes');
    server.script(notSatisfiable, head(0));
    expect(await open().getTail('k', 4)).toEqual({ bytes: Buffer.alloc(0), size: 0 });
    server.script(notSatisfiable, { status: 404 });
    expect(await errorOf(open().getTail('k', 4))).toBeInstanceOf(ObjectNotFoundError);
    // Response of MiniStack.
    const noBytes = { status: 206, headers: { 'content-range': 'bytes 0--1/0' } };
    server.script(noBytes, noBytes);
    expect(await open().getTail('k', 4)).toEqual({ bytes: Buffer.alloc(0), size: 0 });
    expect(await errorOf(open().getRange('k', 0, 4))).toBeInstanceOf(RangeError);
  });

  test('refuse a longer response before it is read', async () => {
    const huge = String(2 ** 40);
    const lies: Answer[] = [
      { status: 200, headers: { 'content-length': huge } },
      {
        status: 206,
        headers: { 'content-length': huge, 'content-range': `bytes 0-${2 ** 40 - 1}/${2 ** 41}` },
      },
      range('0123456789', 0, 100),
    ];
    for (const lie of lies) {
      server.script(lie);
      const error = await errorOf(open().getRange('k', 0, 9));
      expect(error.cause).toBeInstanceOf(UnexpectedAnswerError);
      expect(server.seen).toHaveLength(1);
    }
    server.script({ status: 200, body: '0123456789' });
    const error = await errorOf(open({}, 9).get('k'));
    expect(error.message).toContain('the response has 10 bytes, but at most 9 were requested');
  });

  test('refuse a response with other bytes', async () => {
    const store = open();
    const wrong: [Answer, () => Promise<unknown>][] = [
      [range('0123', 0, 10), () => store.getRange('k', 3, 7)],
      [range('0123', 0, 10), () => store.getTail('k', 4)],
      [range('789', 7, 10), () => store.getTail('k', 4)],
      [
        { status: 206, headers: { 'content-range': 'bytes 3-6/5' }, body: '3456' },
        () => store.getRange('k', 3, 7),
      ],
      [
        { status: 206, headers: { 'content-range': 'bytes x' }, body: '3456' },
        () => store.getRange('k', 3, 7),
      ],
    ];
    for (const [answer, read] of wrong) {
      server.script(answer);
      expect((await errorOf(read())).message).toMatch(/bytes|byte|range/);
      expect(server.seen).toHaveLength(1);
    }
  });

  test('accept the whole object of a server that ignores ranges if it is small enough', async () => {
    const whole = { status: 200, body: '0123' };
    server.script(whole, whole);
    expect(await open().getTail('k', 9)).toEqual({ bytes: Buffer.from('0123'), size: 4 });
    expect(String(await open().getRange('k', 0, 9))).toBe('0123');
  });
});

describe('a listing', () => {
  const page = (keys: string[], more: string): Answer => ({
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body:
      '<ListBucketResult>' +
      keys.map(key => `<Contents><Key>${key}</Key><Size>7</Size></Contents>`).join('') +
      `${more}</ListBucketResult>`,
  });
  const LAST = '<IsTruncated>false</IsTruncated>';
  const MORE = '<IsTruncated>true</IsTruncated><NextContinuationToken>token</NextContinuationToken>';
  const paramsOf = (index: number): Record<string, string> =>
    Object.fromEntries(new URL(server.seen[index].url, server.url).searchParams);

  test('requests keys after one, and percent-decodes them', async () => {
    server.script(page(['a/x%20y%2B', 'a/%C3%A9+%25'], MORE), page([], LAST));
    expect(await open().list('a/', { after: 'a/b c', limit: 2 })).toEqual({
      objects: [
        { key: 'a/x y+', size: 7 },
        { key: 'a/é %', size: 7 },
      ],
      next: 'a/é %',
    });
    expect(paramsOf(0)).toMatchObject({
      'list-type': '2',
      prefix: 'a/',
      'start-after': 'a/b c',
      'max-keys': '2',
      'encoding-type': 'url',
    });
    expect(await open().list('')).toEqual({ objects: [] });
    expect(paramsOf(1)).not.toHaveProperty('start-after');
  });

  test('continues after a page without keys, up to a limit', async () => {
    server.script(page([], MORE), page(['b'], LAST));
    expect(await open().list('', { after: 'a' })).toEqual({ objects: [{ key: 'b', size: 7 }] });
    expect(paramsOf(1)).toMatchObject({ 'continuation-token': 'token' });
    server.script(...Array(150).fill(page([], MORE)));
    expect(await errorOf(open().list(''))).toBeInstanceOf(UnexpectedAnswerError);
    server.script(page(['a'], MORE));
    expect(await errorOf(open().list('', { after: 'b' }))).toBeInstanceOf(UnexpectedAnswerError);
  });
});
