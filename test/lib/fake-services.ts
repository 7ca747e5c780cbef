/**
 * Stands in for S3 and DynamoDB while a bundle runs: keeps what is put and returns it, so that the SDK in the bundle has
 * somebody to talk to. It checks no condition and no signature; what the services promise is tested elsewhere.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attributes = Record<string, { S?: string }>;

export interface FakeServices {
  readonly url: string;
  readonly items: Attributes[];
  readonly objects: Map<string, Buffer>;
  /** What was asked for, in order: the rights that a caller needs. */
  readonly calls: string[];
  close(): Promise<void>;
}

export async function startFakeServices(): Promise<FakeServices> {
  const items: Attributes[] = [];
  const objects = new Map<string, Buffer>();
  const calls: string[] = [];

  function answerTable(operation: string, asked: Record<string, never>): unknown {
    const values = Object.values((asked.ExpressionAttributeValues ?? {}) as Attributes).map(({ S }) => S);
    switch (operation) {
      case 'PutItem':
        items.push(asked.Item);
        return {};
      case 'TransactWriteItems':
        for (const { Put } of asked.TransactItems as { Put: { Item: Attributes } }[]) items.push(Put.Item);
        return {};
      case 'Query': {
        const found = items.filter(({ pk }) => values.includes(pk.S));
        return { Items: found, Count: found.length, ScannedCount: found.length };
      }
      default:
        throw new Error(`no answer to ${operation}`);
    }
  }

  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const target = request.headers['x-amz-target'];
    const key = String(request.url).split('?')[0];
    if (typeof target === 'string') {
      const operation = target.slice(target.indexOf('.') + 1);
      calls.push(operation);
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      response.end(JSON.stringify(answerTable(operation, JSON.parse(body.toString()))));
    } else if (request.method === 'PUT') {
      calls.push('PutObject');
      objects.set(key, body);
      response.end();
    } else {
      calls.push(`${request.method} object`);
      const object = objects.get(key);
      const [start, end] = (/\d+-\d+/.exec(String(request.headers.range))?.[0] ?? '').split('-').map(Number);
      if (object === undefined || end === undefined) response.writeHead(404).end();
      else {
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
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
