/**
 * Replaces S3 and DynamoDB while a bundle runs: stores objects and items and returns them, so that the SDK in
 * the bundle has a server. It checks no condition and no signature. Other tests cover the contracts of the
 * services.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attributes = Record<string, { S?: string; N?: string; B?: string }>;
interface TransactItem {
  readonly Put?: { readonly Item: Attributes };
  readonly Delete?: { readonly Key: Attributes };
  readonly ConditionCheck?: { readonly Key: Attributes };
}

/** What IAM decides by: the right that a call needs, and the partition key or the object's key in the bucket. */
export interface Access {
  readonly action:
    | 'GetItem'
    | 'Query'
    | 'PutItem'
    | 'DeleteItem'
    | 'ConditionCheckItem'
    | 'GetObject'
    | 'PutObject'
    | 'DeleteObject'
    | 'ListBucket'
    | 'DescribeTable';
  readonly of: string;
}

export interface FakeServices {
  readonly url: string;
  readonly items: Attributes[];
  readonly objects: Map<string, Buffer>;
  /** Requests, in order. */
  readonly calls: string[];
  /** The rights that each part of it needs. */
  readonly accesses: Access[];
  close(): Promise<void>;
}

/** Table description that a process checks before it serves. */
const TABLE = {
  TableStatus: 'ACTIVE',
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: ['pk', 'sk'].map(name => ({ AttributeName: name, AttributeType: 'S' })),
};

export async function startFakeServices(): Promise<FakeServices> {
  const items: Attributes[] = [];
  const objects = new Map<string, Buffer>();
  const calls: string[] = [];
  const accesses: Access[] = [];
  const needs = (action: Access['action'], of: string | undefined) =>
    accesses.push({ action, of: String(of) });

  function answerTable(operation: string, asked: Record<string, never>): unknown {
    switch (operation) {
      case 'GetItem':
        needs('GetItem', pkOf(asked.Key));
        return { Item: items.find(isAt(asked.Key)) };
      case 'PutItem':
        write({ Put: { Item: asked.Item } });
        return {};
      case 'DeleteItem':
        write({ Delete: { Key: asked.Key } });
        return {};
      case 'TransactWriteItems':
        for (const part of asked.TransactItems as TransactItem[]) write(part);
        return {};
      case 'Query': {
        const values = (asked.ExpressionAttributeValues ?? {}) as Attributes;
        needs('Query', values[':pk'].S);
        const found = items.filter(inRange(values));
        found.sort((a, b) => (String(a.sk.S) < String(b.sk.S) ? -1 : 1));
        return { Items: found, Count: found.length, ScannedCount: found.length };
      }
      case 'DescribeTable':
        needs('DescribeTable', '');
        return { Table: TABLE };
      case 'UpdateTimeToLive':
        return {};
      default:
        throw new Error(`no answer to ${operation}`);
    }
  }

  function write({ Put, Delete, ConditionCheck }: TransactItem): void {
    if (Put !== undefined) needs('PutItem', pkOf(Put.Item));
    if (Delete !== undefined) needs('DeleteItem', pkOf(Delete.Key));
    if (ConditionCheck !== undefined) needs('ConditionCheckItem', pkOf(ConditionCheck.Key));
    const key = Put?.Item ?? Delete?.Key;
    const at = key === undefined ? -1 : items.findIndex(isAt(key));
    if (at >= 0) items.splice(at, 1);
    if (Put !== undefined) items.push(Put.Item);
  }

  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const target = request.headers['x-amz-target'];
    const key = String(request.url).split('?')[0];
    // Paths have the bucket before the key.
    const ofBucket = key.split('/').slice(2).join('/');
    if (typeof target === 'string') {
      const operation = target.slice(target.indexOf('.') + 1);
      calls.push(operation);
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      response.end(JSON.stringify(answerTable(operation, JSON.parse(body.toString()))));
    } else if (request.method === 'PUT') {
      calls.push('PutObject');
      needs('PutObject', ofBucket);
      objects.set(key, body);
      response.end();
    } else if (request.method === 'DELETE') {
      calls.push('DeleteObject');
      needs('DeleteObject', ofBucket);
      objects.delete(key);
      response.writeHead(204).end();
    } else if (request.method === 'HEAD' && ofBucket === '') {
      calls.push('HeadBucket');
      needs('ListBucket', '');
      response.end();
    } else if (String(request.url).includes('list-type=2')) {
      calls.push('ListObjectsV2');
      needs('ListBucket', '');
      response.setHeader('content-type', 'application/xml');
      response.end(listing(`${key.replace(/\/$/, '')}/`, objects));
    } else {
      calls.push(`${request.method} object`);
      needs('GetObject', ofBucket);
      const object = objects.get(key);
      const [start, end] = (/\d+-\d+/.exec(String(request.headers.range))?.[0] ?? '').split('-').map(Number);
      if (object !== undefined && request.headers.range === undefined) {
        response.writeHead(200, {
          'content-length': object.length,
          'last-modified': new Date().toUTCString(),
        });
        response.end(object);
      } else if (object === undefined || end === undefined) {
        response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      } else {
        const range = `bytes ${start}-${end}/${object.length}`;
        response.writeHead(206, { 'content-range': range, 'content-length': end + 1 - start });
        response.end(object.subarray(start, end + 1));
      }
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    items,
    objects,
    calls,
    accesses,
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

function pkOf(attributes: Attributes): string | undefined {
  return attributes.pk.S;
}

function isAt(key: Attributes): (item: Attributes) => boolean {
  return ({ pk, sk }) => pk.S === key.pk.S && sk.S === key.sk.S;
}

function inRange(values: Attributes): (item: Attributes) => boolean {
  const [pk, from = '', to = '\uffff'] = [':pk', ':from', ':to'].map(name => values[name]?.S);
  return item => item.pk.S === pk && String(item.sk.S) >= from && String(item.sk.S) <= to;
}

/** Paths have the bucket before the key, and are encoded as the listing requests. */
function listing(bucket: string, objects: ReadonlyMap<string, Buffer>): string {
  const contents = [...objects]
    .filter(([path]) => path.startsWith(bucket))
    .map(
      ([path, { length }]) =>
        `<Contents><Key>${path.slice(bucket.length)}</Key><Size>${length}</Size></Contents>`,
    );
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
