/** `logboom mcp` as a client of the protocol uses it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { boundedText, MAX_RESULT_CHARACTERS } from '../../bin/cli/mcp/bounded-text.ts';
import { CACHE, PROGRAM } from '../support/program.ts';
import { type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-mcp-'));
let store: RecordingStore;
let client: Client;

const data = (value: unknown): Reply => ({
  status: 200,
  body: JSON.stringify({ status: 'success', data: value }),
});

function answerTo(path: string, query: string): Reply {
  if (query === 'bad') return { status: 400, body: 'parse error at line 1, col 1' };
  switch (path) {
    case '/loki/api/v1/labels':
      return data(['app', 'level']);
    case '/loki/api/v1/index/volume':
      return data({
        resultType: 'vector',
        result: [{ metric: { service_name: 'shop' }, value: [1, '700'] }],
      });
    case '/loki/api/v1/query_range':
      return query.startsWith('sum')
        ? data({ resultType: 'matrix', result: [{ metric: { level: 'info' }, values: [[1767607200, '7']] }] })
        : data({
            resultType: 'streams',
            result: [{ stream: { app: 'shop' }, values: [['1767607200000000001', 'x'.repeat(5000)]] }],
          });
    default:
      return { status: 404, body: 'not found' };
  }
}

beforeAll(async () => {
  store = await startRecordingStore(({ path, params }) => answerTo(path, params.get('query') ?? ''));
  client = new Client({ name: 'test', version: '1' });
  const args = [
    '--disable-warning=ExperimentalWarning',
    PROGRAM,
    'mcp',
    '--addr',
    store.url,
    '--tenant',
    'acme',
  ];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      env: {
        NODE_COMPILE_CACHE: CACHE,
        LOGBOOM_CONTEXTS_FILE: '/dev/null/none',
        LOGBOOM_BEARER_TOKEN: 'secret',
      },
    }),
  );
});

afterAll(async () => {
  await client?.close();
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function call(name: string, input: Readonly<Record<string, unknown>>) {
  const result = await client.callTool({ name, arguments: input });
  const [content] = result.content as { text: string }[];
  return [result.isError === true, content.text] as const;
}

describe('logboom mcp', () => {
  test('lists tools that only read', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_services',
      'list_labels',
      'query_logs',
      'query_metrics',
      'log_patterns',
      'log_volume',
      'detected_fields',
      'explain_query',
      'lint_rules',
    ]);
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true);
  });

  test('queries the store with the tenant and the token of its options', async () => {
    expect(await call('list_services', {})).toEqual([false, 'service_name,bytes\nshop,700']);
    const { headers, method } = store.requests.at(-1)!;
    expect(headers).toMatchObject({ 'x-scope-orgid': 'acme', authorization: 'Bearer secret' });
    expect(method).toBe('GET');
    expect(await call('list_labels', { from: '2026-01-05T10:00:00Z', to: '2026-01-05T11:00:00Z' })).toEqual([
      false,
      'label\napp\nlevel',
    ]);
    expect(store.requests.at(-1)!.params.get('start')).toBe('1767607200000000000');
  });

  test('limits the size of results', async () => {
    const [, text] = await call('query_logs', { query: '{app="shop"}', limit: 7 });
    expect(text).toContain('2026-01-05T10:00:00.000000001Z');
    expect(text.length).toBeLessThan(2100);
    expect(store.requests.at(-1)!.params.get('limit')).toBe('7');
    const [isError] = await call('query_logs', { query: '{app="shop"}', limit: 100_000 });
    expect(isError).toBe(true);
    const many = boundedText('a line of text\n'.repeat(10_000));
    expect(many.length).toBeLessThan(MAX_RESULT_CHARACTERS + 100);
    expect(many).toMatch(/\(\d+ more lines omitted: narrow the query or the time range\)$/);
    expect(boundedText('short\n')).toBe('short');
  });

  test('returns samples, and problems of rules', async () => {
    const metric = await call('query_metrics', { query: 'sum by (level) (rate({app="shop"}[1m]))' });
    expect(metric).toEqual([false, expect.stringContaining('info,7')]);
    expect(
      await call('lint_rules', { yaml: 'groups: [{name: g, rules: [{record: r, expr: "sum("}]}]' }),
    ).toEqual([false, expect.stringContaining('line 1: ')]);
  });

  test.each([
    ['query_logs', { query: 'bad' }, 'parse error at line 1'],
    ['query_logs', { query: 'sum(rate({app="shop"}[1m]))' }, 'use query_metrics'],
    ['query_metrics', { query: '{app="shop"}' }, 'use query_logs'],
    ['list_labels', { since: 'yesterday' }, 'A duration is written like'],
    ['list_labels', { from: 'soon' }, 'A time is written like'],
  ])('%s %j is an error that says what is wrong', async (name, input, message) => {
    const [isError, text] = await call(name, input);
    expect(isError).toBe(true);
    expect(text).toContain(message);
  });

  test('sends no request that changes the store', () => {
    expect(store.requests.filter(({ method, path }) => method !== 'GET' || path.includes('push'))).toEqual(
      [],
    );
  });
});
