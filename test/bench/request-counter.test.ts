import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startCountingProxy } from '../../bench/requests/counting-proxy.ts';
import { NO_COUNTS, plus, priceOf, type RequestCounts, since } from '../../bench/requests/counts.ts';
import { type Exchange, RequestCounter } from '../../bench/requests/request-counter.ts';
import { type ItemJson, itemBytes, readUnits, writeUnits } from '../../bench/requests/units.ts';
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';

const bodyOf = (json: unknown) => Buffer.from(JSON.stringify(json));
const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
/** Keys and names: pk 2 + 1, sk 2 + 1, body 4. */
const KEY_BYTES = 10;
const itemOf = (bytes: number, sk = 'a'): ItemJson => ({
  pk: { S: 'p' },
  sk: { S: sk },
  body: { B: base64(bytes - KEY_BYTES) },
});
const keyOf = (sk = 'a'): ItemJson => ({ pk: { S: 'p' }, sk: { S: sk } });

const s3 = (method: string, url: string, written = '', answer = ''): Exchange => ({
  method,
  url,
  target: undefined,
  requestBody: Buffer.from(written),
  status: 200,
  answerBody: Buffer.from(answer),
});
const dynamo = (operation: string, request: unknown, answer: unknown = {}, status = 200): Exchange => ({
  method: 'POST',
  url: '/',
  target: `DynamoDB_20120810.${operation}`,
  requestBody: bodyOf(request),
  status,
  answerBody: bodyOf(answer),
});
/** Counts of the last exchange. */
function countOf(...exchanges: readonly Exchange[]): Partial<RequestCounts> {
  const counter = new RequestCounter();
  let before = NO_COUNTS;
  for (const exchange of exchanges) {
    before = counter.counts;
    counter.add(exchange);
  }
  const counts = since(before, counter.counts);
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

describe('sizes and units', () => {
  test.each<[ItemJson, number]>([
    [{ a: { S: 'é' } }, 1 + 2],
    [{ body: { B: base64(100) } }, 4 + 100],
    [{ n: { N: '0' } }, 1 + 1],
    [{ n: { N: '7' } }, 1 + 2],
    [{ n: { N: '1200' } }, 1 + 2],
    [{ n: { N: '123.45' } }, 1 + 4],
    [{ n: { N: '-0.001' } }, 1 + 2],
    [itemOf(4096), 4096],
  ])('item %#', (item, bytes) => {
    expect(itemBytes(item)).toBe(bytes);
  });

  test.each([
    [0, 1, 1],
    [1024, 1, 1],
    [1025, 2, 1],
    [4096, 4, 1],
    [4097, 5, 2],
  ])('%i bytes are %i units to write and %i to read', (bytes, written, read) => {
    expect([writeUnits(bytes), readUnits(bytes, true), readUnits(bytes, false)]).toEqual([
      written,
      read,
      read / 2,
    ]);
  });
});

describe('requests', () => {
  const put = (bytes: number, sk?: string) => dynamo('PutItem', { Item: itemOf(bytes, sk) });
  const refused = { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException' };
  const cases: [string, readonly Exchange[], Partial<RequestCounts>][] = [
    ['GET of an object', [s3('GET', '/b/k', '', 'abc')], { objectGets: 1, objectReadBytes: 3 }],
    ['GET of a listing', [s3('GET', '/b?list-type=2&prefix=x', '', 'abc')], { objectLists: 1 }],
    ['HEAD', [s3('HEAD', '/b/k')], { objectHeads: 1 }],
    ['PUT', [s3('PUT', '/b/k', 'abcd')], { objectPuts: 1, objectWrittenBytes: 4 }],
    ['DELETE', [s3('DELETE', '/b/k')], { objectDeletes: 1 }],
    ['GET of what is not there', [{ ...s3('GET', '/b/k'), status: 404 }], { objectGets: 1 }],
    ['GET that fails', [{ ...s3('GET', '/b/k'), status: 503 }], { failures: 1 }],
    [
      'GetItem, consistent',
      [dynamo('GetItem', { ConsistentRead: true }, { Item: itemOf(5000) })],
      { tableReads: 1, tableReadBytes: 5000, readUnits: 2 },
    ],
    ['GetItem of nothing', [dynamo('GetItem', { ConsistentRead: true })], { tableReads: 1, readUnits: 1 }],
    [
      'a query is rounded as a whole',
      [dynamo('Query', { ConsistentRead: true }, { Items: [itemOf(3000), itemOf(3000, 'b')] })],
      { tableReads: 1, tableReadBytes: 6000, readUnits: 2 },
    ],
    [
      'eventually consistent',
      [dynamo('Query', {}, { Items: [itemOf(3000)] })],
      { tableReads: 1, tableReadBytes: 3000, readUnits: 0.5 },
    ],
    ['PutItem', [put(2000)], { tableWrites: 1, writeUnits: 2 }],
    ['PutItem over a larger one', [put(5000), put(100)], { tableWrites: 1, writeUnits: 5 }],
    ['PutItem after that', [put(5000), put(100), put(100)], { tableWrites: 1, writeUnits: 1 }],
    [
      'PutItem refused by its condition, with what is stored',
      [put(5000), dynamo('PutItem', { Item: itemOf(100) }, refused, 400)],
      { tableWrites: 1, writeUnits: 5 },
    ],
    [
      'nothing is stored by what was refused',
      [dynamo('PutItem', { Item: itemOf(5000) }, refused, 400), put(100)],
      { tableWrites: 1, writeUnits: 1 },
    ],
    ['DeleteItem', [put(3000), dynamo('DeleteItem', { Key: keyOf() })], { tableWrites: 1, writeUnits: 3 }],
    [
      'DeleteItem of another key',
      [put(3000), dynamo('DeleteItem', { Key: keyOf('b') })],
      { tableWrites: 1, writeUnits: 1 },
    ],
    [
      'a transaction takes twice the units',
      [
        put(3000),
        dynamo('TransactWriteItems', {
          TransactItems: [
            { Delete: { Key: keyOf() } },
            { Put: { Item: itemOf(1500, 'b') } },
            { ConditionCheck: { Key: keyOf('c') } },
          ],
        }),
      ],
      { tableWrites: 1, writeUnits: 2 * (3 + 2 + 1) },
    ],
    [
      'throttled',
      [dynamo('PutItem', { Item: itemOf(100) }, { __type: 'x#ThrottlingException' }, 400)],
      { failures: 1 },
    ],
    ['a description of the table', [dynamo('DescribeTable', {})], {}],
  ];
  test.each(cases)('%s', (_name, exchanges, counts) => {
    expect(countOf(...exchanges)).toEqual(counts);
  });

  test('a request with unknown units is not free', () => {
    expect(() => countOf(dynamo('Scan', {}))).toThrow('Scan');
    expect(() => countOf(s3('POST', '/b?delete'))).toThrow('POST /b?delete');
  });
});

test('prices: listings as puts, heads as gets, deletions and bytes for nothing', () => {
  const counts = plus(NO_COUNTS, {
    objectGets: 2,
    objectHeads: 1,
    objectPuts: 3,
    objectLists: 1,
    objectDeletes: 9,
    objectReadBytes: 1e9,
    readUnits: 5,
    writeUnits: 7,
  });
  expect(priceOf(counts, DEFAULT_PRICES)).toBeCloseTo((3 * 0.4 + 4 * 5 + 5 * 0.125 + 7 * 0.625) / 1e6, 15);
});

describe('the proxy', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  test('passes requests and answers on as they are, and counts them', async () => {
    const heard: string[] = [];
    const target = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      heard.push(`${request.method} ${request.url} ${request.headers.range} ${Buffer.concat(chunks)}`);
      response.writeHead(206, { 'content-range': 'bytes 0-4/9', 'content-length': '5' });
      response.end(request.method === 'HEAD' ? undefined : 'hello');
    });
    await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve));
    closing.push(async () => {
      target.closeAllConnections();
      target.close();
    });
    const proxy = await startCountingProxy(`http://127.0.0.1:${(target.address() as AddressInfo).port}`);
    closing.push(() => proxy.close());

    const got = await fetch(`${proxy.url}/b/k%20x`, { headers: { range: 'bytes=0-4' } });
    expect([got.status, got.headers.get('content-range'), await got.text()]).toEqual([
      206,
      'bytes 0-4/9',
      'hello',
    ]);
    const head = await fetch(`${proxy.url}/b/k`, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe('5');
    await fetch(`${proxy.url}/b/k`, { method: 'PUT', body: 'body' }).then(answer => answer.text());
    expect(heard).toEqual(['GET /b/k%20x bytes=0-4 ', 'HEAD /b/k undefined ', 'PUT /b/k undefined body']);
    expect(await proxy.settledCounts()).toEqual(
      plus(NO_COUNTS, {
        objectGets: 1,
        objectHeads: 1,
        objectPuts: 1,
        objectReadBytes: 5,
        objectWrittenBytes: 4,
      }),
    );
  });

  test('a request that cannot be counted fails the reader of the counts', async () => {
    const target = createServer((_request, response) => response.end('{}'));
    await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve));
    closing.push(async () => {
      target.closeAllConnections();
      target.close();
    });
    const proxy = await startCountingProxy(`http://127.0.0.1:${(target.address() as AddressInfo).port}`);
    closing.push(() => proxy.close());
    await fetch(proxy.url, { method: 'POST', headers: { 'x-amz-target': 'DynamoDB.Scan' }, body: '{}' });
    await expect(proxy.settledCounts()).rejects.toThrow('DynamoDB.Scan');
  });
});
