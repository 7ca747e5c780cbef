/**
 * S3 and DynamoDB over HTTP, in memory, with the operations that the store uses. Each response is delayed as
 * the AWS model says (modeled-ports.ts). Runs in a separate process, so that its CPU time is not the
 * store's.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';
import { roundsOf } from '../../../shared/read/query/read-rounds.ts';
import { AWS_LATENCY } from '../modeled-ports.ts';
import { answerTable, type TableResponse } from './table-service.ts';

/** Requests since the last message, from any part of the store's process. */
export interface SentRequests {
  objectReads: number;
  objectBytes: number;
  objectWrites: number;
  tableReads: number;
  tableWrites: number;
  /**
   * Longest chain of requests in which each arrived after the response to another was sent. On a busy machine
   * it can exceed the rounds of the query: requests that do not depend on each other arrive late. A multiple of
   * the latency makes such rounds rare, and changes no others.
   */
  rounds: number;
  /** Mean time that a response was late, compared with the model. It shows how busy the machine is. */
  lateMs: number;
}

export type ServicesMessage = { readonly port: number } | { readonly sent: SentRequests };

interface ServedObject {
  readonly body: Buffer;
  readonly putId: string;
}

/** Multiple of the modeled latencies that responses take. */
let factor = 1;
const objects = new Map<string, ServedObject>();
const table = memoryTable({ clock: SYSTEM_CLOCK });
let sent = nothingSent();
let served: ServedRequest[] = [];

interface ServedRequest {
  readonly startMs: number;
  readonly endMs: number;
  readonly lateMs: number;
}

function nothingSent() {
  return { objectReads: 0, objectBytes: 0, objectWrites: 0, tableReads: 0, tableWrites: 0 };
}

function sentNow(): SentRequests {
  const lateMs = served.reduce((sum, request) => sum + request.lateMs, 0) / Math.max(1, served.length);
  const rounds = roundsOf(served).reduce((most, round) => Math.max(most, round), 0);
  return { ...sent, rounds, lateMs };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startMs = performance.now();
  const body = await bodyOf(request);
  const until = async (modeledMs: number) => {
    const ms = modeledMs * factor;
    await sleep(Math.max(0, startMs + ms - performance.now()));
    const endMs = performance.now();
    served.push({ startMs, endMs, lateMs: endMs - startMs - ms });
  };
  const target = request.headers['x-amz-target'];
  if (typeof target === 'string') {
    const { status, json, isWrite } = await answerOf(target, body);
    if (isWrite) sent.tableWrites++;
    else sent.tableReads++;
    const text = JSON.stringify(json);
    await until(isWrite ? AWS_LATENCY.tableWriteMs : AWS_LATENCY.tableReadMs);
    response.writeHead(status, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
    return;
  }
  const isWrite = request.method === 'PUT' || request.method === 'DELETE';
  const { status, headers, content } = objectAnswer(request, body);
  const bytes = isWrite ? body.length : content.length;
  if (isWrite) sent.objectWrites++;
  else {
    sent.objectReads++;
    sent.objectBytes += bytes;
  }
  await until(
    (isWrite ? AWS_LATENCY.objectWriteMs : AWS_LATENCY.objectReadMs) + bytes / AWS_LATENCY.objectBytesPerMs,
  );
  response.writeHead(status, { 'content-length': content.length, ...headers });
  response.end(request.method === 'HEAD' ? undefined : content);
}

async function answerOf(target: string, body: Buffer): Promise<TableResponse> {
  return answerTable(table, target.slice(target.indexOf('.') + 1), JSON.parse(body.toString()));
}

interface ObjectAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly content: Buffer;
}

const NOTHING = Buffer.alloc(0);

function objectAnswer(request: IncomingMessage, body: Buffer): ObjectAnswer {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const key = decodeURIComponent(url.pathname.split('/').slice(2).join('/'));
  const { method, headers } = request;
  if (url.searchParams.get('list-type') === '2') return listAnswer(url.searchParams.get('prefix') ?? '');
  if (key === '') return { status: 200, content: NOTHING };
  const found = objects.get(key);
  switch (method) {
    case 'PUT': {
      if (found !== undefined) return errorAnswer(412, 'PreconditionFailed');
      objects.set(key, { body, putId: String(headers['x-amz-meta-put-id'] ?? '') });
      return { status: 200, content: NOTHING };
    }
    case 'DELETE':
      objects.delete(key);
      return { status: 204, content: NOTHING };
  }
  if (found === undefined) return errorAnswer(404, 'NoSuchKey');
  const size = found.body.length;
  if (method === 'HEAD') {
    const known = { 'content-length': size, 'x-amz-meta-put-id': found.putId };
    return { status: 200, headers: known, content: NOTHING };
  }
  const range = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '');
  if (range === null) return { status: 200, content: found.body };
  const isTail = range[1] === '';
  const start = isTail ? Math.max(0, size - Number(range[2])) : Number(range[1]);
  const end = isTail ? size : Math.min(size, Number(range[2]) + 1);
  if (start >= size) return errorAnswer(416, 'InvalidRange');
  const content = found.body.subarray(start, end);
  return { status: 206, headers: { 'content-range': `bytes ${start}-${end - 1}/${size}` }, content };
}

function listAnswer(prefix: string): ObjectAnswer {
  const keys = [...objects.keys()].filter(key => key.startsWith(prefix)).sort();
  const contents = keys.map(
    key =>
      `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${objects.get(key)!.body.length}</Size></Contents>`,
  );
  const text = `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, content: Buffer.from(text) };
}

function errorAnswer(status: number, code: string): ObjectAnswer {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, content: Buffer.from(text) };
}

const server = createServer((request, response) => {
  serve(request, response).catch(error => {
    console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const message: ServicesMessage = { port: (server.address() as AddressInfo).port };
  process.send!(message);
});
/** A number is the new multiple of the latencies. Any other message requests the count since the last one. */
process.on('message', asked => {
  if (typeof asked === 'number') {
    factor = asked;
    return;
  }
  const message: ServicesMessage = { sent: sentNow() };
  sent = nothingSent();
  served = [];
  process.send!(message);
});
process.on('disconnect', () => process.exit());
