/** OTLP endpoint over the store in this process: status codes, headers and error format. */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compress } from 'lz4js';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { errorResponse, responseOfError } from '../../shared/server/http/errors.ts';
import { findEntries } from '../end-to-end/support/ask.ts';
import type { ClientAnswer } from '../end-to-end/support/client.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { jsonOf, pairs, protobufOf, requestOf, statusMessage, text } from '../ingest/otlp/otlp-schema.ts';

const PROTOBUF = 'application/x-protobuf';
let store: TestStore;

beforeAll(async () => {
  store = await startStore('auth_enabled: true\nlimits_config: { max_line_size: 1KB }');
});
afterAll(() => store.stop());

const NOW_MS = Date.now();
const sample = (line: string) =>
  requestOf(
    { timeUnixNano: `${NOW_MS}000000`, severityNumber: 9, body: text(line) },
    pairs({ 'service.name': 'shop', 'host.name': 'h' }),
  );

interface Sent {
  readonly body: Uint8Array | string;
  readonly type?: string;
  readonly encoding?: string;
  readonly tenant?: string;
  readonly path?: string;
}

function send({
  body,
  type = PROTOBUF,
  encoding,
  tenant = 'one',
  path = '/otlp/v1/logs',
}: Sent): Promise<ClientAnswer> {
  const headers: Record<string, string> = {};
  if (type !== '') headers['content-type'] = type;
  if (encoding !== undefined) headers['content-encoding'] = encoding;
  if (tenant !== '') headers['x-scope-orgid'] = tenant;
  return store.client.send({ method: 'POST', path, headers, body });
}

describe('an accepted OTLP request', () => {
  const body = protobufOf(sample('x'));
  // [case, request]
  const rows: [string, Sent][] = [
    ['protobuf', { body }],
    ['gzip', { body: gzipSync(body), encoding: 'gzip' }],
    ['zstd', { body: zstdCompressSync(body), encoding: 'zstd' }],
    ['lz4', { body: compress(body), encoding: 'lz4' }],
    ['JSON', { body: jsonOf(sample('x')), type: 'application/json' }],
    ['JSON with its charset', { body: jsonOf(sample('x')), type: 'application/json; charset=utf-8' }],
  ];
  test.each(rows)('%s returns 204 with an empty body', async (name, request) => {
    const tenant = name.replaceAll(' ', '-');
    const answer = await send({ ...request, tenant });
    expect([answer.status, answer.text]).toEqual([204, '']);
    // The same entry again is the same entry.
    await send({ ...request, tenant });
    const found = await findEntries(
      store.client,
      { query: '{service_name="shop"}', limit: '10' },
      { tenant },
    );
    const labels = { service_name: 'shop', host_name: 'h', severity_number: '9', detected_level: 'info' };
    expect(found.map(({ labels, line }) => ({ labels, line }))).toEqual([{ labels, line: 'x' }]);
  });
});

describe('a refused OTLP request', () => {
  // [case, request, status, message]
  const rows: [string, Sent, number, string][] = [
    [
      'no records',
      { body: protobufOf({ resourceLogs: [] }) },
      422,
      'error at least one valid stream is required for ingestion',
    ],
    ['no bytes', { body: '' }, 422, 'error at least one valid stream is required for ingestion'],
    ['no JSON', { body: '', type: 'application/json' }, 400, 'EOF'],
    [
      'JSON that is null',
      { body: 'null', type: 'application/json' },
      422,
      'error at least one valid stream is required for ingestion',
    ],
    [
      'JSON without records',
      { body: '{}', type: 'application/json' },
      422,
      'error at least one valid stream is required for ingestion',
    ],
    ['another type', { body: 'x', type: 'text/plain' }, 400, 'content type: text/plain is not supported'],
    [
      'a type with a parameter',
      { body: 'x', type: 'application/x-protobuf; v=1' },
      400,
      'content type: application/x-protobuf; v=1 is not supported',
    ],
    ['no type', { body: 'x', type: '' }, 400, 'content type:  is not supported'],
    [
      'another encoding',
      { body: 'x', encoding: 'br' },
      400,
      'unsupported content encoding br: only gzip, lz4 and zstd are supported',
    ],
    ['several tenants', { body: 'x', tenant: 'a|b' }, 400, 'multiple org IDs present'],
    ['broken protobuf', { body: Buffer.from('0a05', 'hex') }, 400, 'unexpected EOF'],
    [
      'an entry that is not valid',
      { body: protobufOf(sample('x'.repeat(1025))) },
      400,
      `max entry size '1024' bytes exceeded for stream '{service_name="shop"}' while adding an entry with length '1025' bytes`,
    ],
    [
      "the collector's path twice",
      { body: 'x', path: '/otlp/v1/logs/v1/logs' },
      400,
      "the exporter's endpoint is too long; configure it as <base>/otlp, because the collector adds /v1/logs itself",
    ],
  ];
  test.each(rows)('%s', async (_, request, status, message) => {
    const answer = await send(request);
    expect([answer.status, statusMessage(answer.bytes)]).toEqual([status, message]);
    expect(answer.headers['content-type']).toBe('application/octet-stream');
  });

  test.each(['/otlp/v1/logs', '/otlp/v1/logs/v1/logs'])(
    '%s without a tenant returns plain text',
    async path => {
      const answer = await send({ body: 'x', tenant: '', path });
      expect([answer.status, answer.text]).toEqual([401, 'no org id\n']);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    },
  );

  test('a request with another method returns 405', async () => {
    const answer = await store.client.send({ path: '/otlp/v1/logs' });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  });
});

describe('the error format', () => {
  const log = { error: () => {} };

  test('allows a retry after a defect or an overload', () => {
    for (const error of [new Error('inside'), new ThrottledError('full')]) {
      const { status, body } = responseOfError(error, { style: 'otlp', requestId: 'r1', log });
      expect(status).toBe(503);
      expect(statusMessage(body as Uint8Array)).not.toContain('inside');
    }
  });

  test.each([0, 1, 127, 128, 20_000])('has a message of %i bytes', length => {
    const { body } = errorResponse(400, 'm'.repeat(length), 'otlp');
    expect(statusMessage(body as Uint8Array)).toBe('m'.repeat(length));
  });
});
