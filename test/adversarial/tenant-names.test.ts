/** Tenants with the names of paths, keys and JavaScript objects of the store. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findEntries } from '../end-to-end/support/ask.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';

/** Every name consists of characters that a tenant ID may contain. */
const NAMES = [
  ...[
    'c',
    'd',
    't',
    'w',
    'g',
    'tl',
    'tm',
    'chunks',
    'chunk',
    'objects',
    'index',
    'indexes',
    'rules',
    'catalog.sqlite',
  ],
  ...[
    'catalog.sqlite-wal',
    'reserve',
    'data',
    'loki',
    'fake',
    'other',
    'anonymous',
    'default',
    'lost_found',
    'null',
  ],
  ...[
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    'undefined',
    'NaN',
    '-',
    '...',
    '.a',
    'a.',
    '*',
    "'",
  ],
  ...['(', '!', 'CON', 'nul.txt', 'a..b', '0', '00', '-1', 'ACME', 'acme'],
];

let store: TestStore;
beforeAll(async () => {
  store = await startStore('auth_enabled: true\nlogboom: {query_workers: 0}\n');
});
afterAll(() => store.stop());

const headers = (tenant: string) => ({ 'x-scope-orgid': tenant });

async function linesOf(tenant: string): Promise<readonly string[]> {
  const entries = await findEntries(store.client, { query: '{app="a"}', since: '1h' }, { tenant });
  return entries.map(({ line }) => line);
}

test('each tenant has only its lines, before and after a merge', async () => {
  for (const tenant of NAMES) {
    for (const line of ['first', 'second']) {
      const values = [[`${Date.now()}000000`, `${line} of ${tenant}`]];
      const { status, text } = await store.client.send({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'content-type': 'application/json', ...headers(tenant) },
        body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
      });
      expect([tenant, status, text]).toEqual([tenant, 204, '']);
    }
  }
  const own = (tenant: string) => [`first of ${tenant}`, `second of ${tenant}`];
  for (const tenant of NAMES) expect((await linesOf(tenant)).toSorted()).toEqual(own(tenant));
  for (const tenant of NAMES) {
    const flushed = await store.client.send({
      method: 'POST',
      path: '/flush/tenant',
      headers: headers(tenant),
    });
    expect([tenant, flushed.status]).toEqual([tenant, 204]);
  }
  for (const tenant of NAMES) expect((await linesOf(tenant)).toSorted()).toEqual(own(tenant));
});

test.each([
  '.',
  '..',
  '../c',
  'a/b',
  'a\\b',
  '/etc/passwd',
  '%2e%2e',
  'a b',
  'c:',
  '~root',
  '$HOME',
  'a\u0001',
])('the name %j is refused', async name => {
  for (const [method, path] of [
    ['GET', '/loki/api/v1/labels'],
    ['POST', '/loki/api/v1/push'],
  ]) {
    const { status } = await store.client
      .send({
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers(name) },
        body: method === 'POST' ? '{"streams":[]}' : undefined,
      })
      .catch(() => ({ status: 400 }));
    expect([name, path, status]).toEqual([name, path, 400]);
  }
});

test.each(['..%2f..', '%2e%2e%2F%2e%2e', '..%5c..', '.%2fa', 'a%2f..%2f..%2fb'])(
  'the rule namespace %s is refused, and so is a group of that name',
  async name => {
    const own = headers('acme');
    const body = JSON.stringify({ name: 'g', rules: [{ record: 'a', expr: 'vector(1)' }] });
    for (const [method, path] of [
      ['GET', `/loki/api/v1/rules/${name}`],
      ['POST', `/loki/api/v1/rules/${name}`],
      ['DELETE', `/loki/api/v1/rules/${name}`],
      ['GET', `/loki/api/v1/rules/a/${name}`],
      ['DELETE', `/loki/api/v1/rules/a/${name}`],
    ]) {
      const request = { method, path, headers: own, ...(method === 'POST' && { body }) };
      const { status, text } = await store.client.send(request);
      expect([method, path, status, text]).toEqual([
        method,
        path,
        400,
        expect.stringContaining('path traversal'),
      ]);
    }
  },
);
