/** Firehose's delivery to an HTTP endpoint, in the shape of its specification. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findEntries } from './support/ask.ts';
import { startStore, type TestStore } from './support/store.ts';

let closed: TestStore;
let open: TestStore;
beforeAll(async () => {
  closed = await startStore('auth_enabled: true');
  open = await startStore('auth_enabled: true\nlogboom: { firehose_tenant_attribute: true }');
});
afterAll(() => Promise.all([closed.stop(), open.stop()]));

function deliver(store: TestStore, attributes: Record<string, string>, body: string, headers = {}) {
  return store.client.send({
    method: 'POST',
    path: '/aws/firehose',
    headers: {
      'content-type': 'application/json',
      'x-amz-firehose-protocol-version': '1.0',
      'x-amz-firehose-request-id': 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f',
      'x-amz-firehose-access-key': 'secret',
      'x-amz-firehose-common-attributes': JSON.stringify({ commonAttributes: attributes }),
      ...headers,
    },
    body,
  });
}

const request = (...lines: string[]) =>
  JSON.stringify({
    requestId: 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f',
    timestamp: Date.now(),
    records: lines.map(line => ({ data: Buffer.from(line).toString('base64') })),
  });
const ID = { requestId: 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f', timestamp: expect.any(Number) };

test('is stored and answered as Firehose wants it, repeats once', async () => {
  const body = request('one', '{"time":"2001-01-01T00:00:00Z","msg":"old"}');
  for (let i = 0; i < 2; i++) {
    const answer = await deliver(open, { app: 'web', tenant: 'acme' }, body);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    expect(answer.json()).toEqual(ID);
  }
  const found = await findEntries(open.client, { query: '{app="web"}' }, { tenant: 'acme' });
  expect(found.map(({ line }) => line)).toEqual(['one']);
});

test('the header names the tenant before any attribute', async () => {
  await deliver(open, { app: 'web', tenant: 'other' }, request('mine'), { 'x-scope-orgid': 'header' });
  const ask = (tenant: string) => findEntries(open.client, { query: '{app="web"}' }, { tenant });
  expect((await ask('header')).map(({ line }) => line)).toEqual(['mine']);
  expect(await ask('other')).toEqual([]);
});

test.each([
  ['an attribute names no tenant unless that is allowed', {}, request('x'), 401, 'no org id'],
  [
    'a body that is none',
    { 'x-scope-orgid': 't' },
    '{',
    400,
    "Value looks like object, but can't find closing '}' symbol",
  ],
  [
    'attributes that are none',
    { 'x-amz-firehose-common-attributes': '[' },
    request('x'),
    400,
    'is not a JSON object of strings',
  ],
])('%s', async (_, headers, body, status, message) => {
  const answer = await deliver(closed, { tenant: 'acme' }, body, headers);
  expect(answer.status).toBe(status);
  expect(answer.json()).toEqual({ ...ID, errorMessage: expect.stringContaining(message) });
});
