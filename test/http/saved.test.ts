/** API of saved queries and boards. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type TestProcess, testStores } from '../maintenance/store.ts';

const ROOT = '/svc/api/v1/ui';
const BOARD = {
  name: 'Shop',
  description: 'all of it',
  panels: [{ title: 'a', queries: [{ query: '{a="b"}' }] }],
};

let process: TestProcess;
beforeEach(() => {
  process = testStores().process(1);
});

async function ask(method: string, path: string, body?: unknown, tenant = 'acme') {
  const [onlyPath, rawQuery = ''] = path.split('?');
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await process.ask(method, ROOT + onlyPath, {
    rawQuery,
    headers: { 'x-scope-orgid': tenant },
    body: Buffer.from(text),
  });
  const said = Buffer.from(answer.body).toString();
  return { status: answer.status, said, data: said.startsWith('{') ? JSON.parse(said).data : undefined };
}

test.each([
  ['boards', BOARD, 'all of it'],
  ['queries', { name: 'Shop', queries: ['{a="b"} |= `x`'] }, '{a="b"} |= `x`'],
])('%s can be created, listed, shown, replaced and deleted', async (kind, content, about) => {
  expect((await ask('GET', `/${kind}`)).data).toEqual([]);
  const made = await ask('POST', `/${kind}`, content);
  const { id } = made.data;
  const head = { id, name: 'Shop', about, version: 1, updated: '2026-06-01T00:00:00.000Z' };
  expect([made.status, made.data]).toEqual([200, head]);
  expect((await ask('GET', `/${kind}`)).data).toEqual([head]);
  expect((await ask('GET', `/${kind}/${id}`)).data).toMatchObject({ ...head, content });
  const changed = await ask('PUT', `/${kind}/${id}?version=1`, { ...content, name: 'New' });
  expect(changed.data).toMatchObject({ id, name: 'New', version: 2 });
  expect((await ask('DELETE', `/${kind}/${id}?version=1`)).status).toBe(409);
  expect((await ask('DELETE', `/${kind}/${id}?version=2`)).status).toBe(200);
  expect((await ask('GET', `/${kind}/${id}`)).status).toBe(404);
});

test('an update of an older version is rejected', async () => {
  const { id } = (await ask('POST', '/boards', BOARD)).data;
  expect((await ask('PUT', `/boards/${id}?version=1`, { ...BOARD, name: 'Mine' })).status).toBe(200);
  expect(await ask('PUT', `/boards/${id}?version=1`, { ...BOARD, name: 'Yours' })).toMatchObject({
    status: 409,
    said: `board ${id} was changed since version 1 was read (current version: 2); load it again, or save a copy\n`,
  });
  expect((await ask('GET', `/boards/${id}`)).data.name).toBe('Mine');
});

test('saved items are separate per tenant', async () => {
  const { id } = (await ask('POST', '/boards', BOARD)).data;
  expect((await ask('GET', '/boards', undefined, 'other')).data).toEqual([]);
  for (const [method, query] of [
    ['GET', ''],
    ['PUT', '?version=1'],
    ['DELETE', '?version=1'],
  ] as const) {
    const answer = await ask(method, `/boards/${id}${query}`, method === 'PUT' ? BOARD : undefined, 'other');
    expect([method, answer.status]).toEqual([method, 404]);
  }
  expect(await ask('GET', '/boards', undefined, 'acme|other')).toMatchObject({ status: 400 });
});

describe('saved items API refuses', () => {
  const ID = '0123456789abcdef';
  test.each<[string, string, unknown, number, string]>([
    ['POST', '/boards', '{', 400, 'the body is not JSON: '],
    ['POST', '/boards', 'null', 400, 'expected a JSON object'],
    ['POST', '/boards', {}, 400, 'name: expected a text'],
    ['POST', '/queries', { name: 'x', queries: [] }, 400, 'queries: expected at least one query'],
    [
      'POST',
      '/boards',
      `"${'x'.repeat(256 * 1024)}"`,
      413,
      'request body too large: 262146 bytes, limit: 262144',
    ],
    ['PUT', `/boards/${ID}`, BOARD, 400, 'version: expected the version that was read, such as version=1'],
    ['PUT', `/boards/${ID}?version=0`, BOARD, 400, 'version: expected'],
    ['DELETE', `/boards/${ID}?version=1e3`, undefined, 400, 'version: expected'],
    ['PUT', `/boards/${ID}?version=1`, BOARD, 404, `board "${ID}" does not exist`],
    ['GET', '/boards/..%2Fqueries', undefined, 404, 'board "../queries" does not exist'],
    ['GET', '/nothing', undefined, 404, '404 page not found'],
  ])('%s %s', async (method, path, body, status, said) => {
    const answer = await ask(method, path, body);
    expect([answer.status, answer.said]).toEqual([status, expect.stringContaining(said)]);
  });
});
