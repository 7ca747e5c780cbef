/** Tokens through the gateway, as clients meet them: fetch, WebSockets, the command line; and what each answer carries. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startLocal } from '../../local/start.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { openApi } from '../../shared/server/http/api-docs/openapi.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { logboom } from '../bin/run-command.ts';
import { responseChecks } from '../support/response-schemas.ts';
import { openTail, refusedTail } from './support/tail-client.ts';

const YAML = `
auth: {tokens_enabled: true}
querier: {multi_tenant_queries_enabled: true}
logboom: {query_workers: 0, index_sync: false}
`;
const JSON_TYPE = { 'content-type': 'application/json' };
let folder: string;
let config: string;
let url: string;
let stop: () => Promise<void>;
let admin: string;

const place = () => ['--config', config, '--data-dir', join(folder, 'data')];
const basic = (user: string, token: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
});
const bearer = (token: string, tenant?: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(tenant === undefined ? {} : { 'x-scope-orgid': tenant }),
});

async function make(name: string, scopes: readonly string[], tenants: readonly string[]): Promise<string> {
  const body = JSON.stringify({ name, scopes, tenants });
  const answer = await fetch(`${url}/svc/api/v1/tokens`, {
    method: 'POST',
    headers: { ...bearer(admin), ...JSON_TYPE },
    body,
  });
  expect(answer.status).toBe(200);
  const { data } = (await answer.json()) as { data: { token: string } };
  return data.token;
}

function push(headers: Record<string, string>, line: string) {
  const values = [[`${Date.now()}000000`, line]];
  const body = JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] });
  return fetch(`${url}/loki/api/v1/push`, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body });
}

async function lines(headers: Record<string, string>): Promise<unknown> {
  const answer = await fetch(`${url}/loki/api/v1/query_range?query={app="a"}`, { headers });
  if (answer.status !== 200) return answer.status;
  const { data } = (await answer.json()) as { data: { result: { values: [string, string][] }[] } };
  return data.result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-tokens-'));
  config = join(folder, 'config.yaml');
  await writeFile(config, YAML);
  // The first token is created before there is a store.
  const args = ['--name', 'root', '--tenant', '*', '--scope', 'admin', '--expires', '1d'];
  const made = await logboom(['token', 'create', ...args, ...place()]);
  expect(made.stderr).toMatch(/^token \w{11} \(root\), valid until \S+; it is not shown again\n$/);
  admin = made.stdout.trim();
  const store = await startLocal({
    config: parseConfig(YAML, { name: 'test', environment: {} }).config,
    storage: { kind: 'embedded', dataDir: join(folder, 'data') },
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
  });
  ({ url, stop } = store);
});

afterAll(async () => {
  await stop?.();
  await rm(folder, { recursive: true, force: true });
});

test('a push token and a read token work within their scopes and tenants', async () => {
  const write = await make('agent', ['logs:write'], ['shop']);
  const read = await make('grafana', ['logs:read'], ['shop', 'bank']);
  const bank = await make('bank', ['logs:write', 'logs:read'], ['bank']);
  expect((await push(basic('shop', write), 'of the shop')).status).toBe(204);
  expect((await push(bearer(bank), 'of the bank')).status).toBe(204);
  expect((await push(bearer(write, 'bank'), 'not theirs')).status).toBe(403);
  expect((await push(basic('shop|bank', read), 'not a writer')).status).toBe(403);
  expect(await lines(basic('shop', read))).toEqual(['of the shop']);
  expect(await lines(basic('shop|bank', read))).toEqual(['of the bank', 'of the shop']);
  expect(await lines(bearer(bank, 'shop'))).toBe(403);
  expect(await lines(bearer(write))).toBe(403);
  expect(await lines({ 'x-scope-orgid': 'shop' })).toBe(401);
  const firehose = await fetch(`${url}/aws/firehose`, {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-amz-firehose-access-key': write, 'x-amz-firehose-request-id': 'r' },
    body: JSON.stringify({ requestId: 'r', timestamp: 1, records: [] }),
  });
  expect(firehose.status).toBe(200);
});

test('responses about tokens match the schemas of the API', async () => {
  const check = responseChecks(openApi(ROUTES));
  const send = async (token: string, method: string, path: string, body?: string) => {
    const headers = { ...bearer(token, 'shop'), ...JSON_TYPE };
    const answer = await fetch(`${url}/svc/api/v1/${path}`, { method, headers, body });
    expect([method, path, answer.status]).toEqual([method, path, 200]);
    return answer.json() as Promise<{ data: { id: string; token: string } }>;
  };
  const wanted = JSON.stringify({ name: 'reader', scopes: ['logs:read'], tenants: ['shop'] });
  const created = await send(admin, 'POST', 'tokens', wanted);
  const { token, id } = created.data;
  expect(check('NewToken', created)).toBeUndefined();
  expect(check('Tokens', await send(admin, 'GET', 'tokens'))).toBeUndefined();
  expect(check('Caller', await send(token, 'GET', 'auth/me'))).toBeUndefined();
  expect(check('Ticket', await send(token, 'POST', 'auth/ticket'))).toBeUndefined();
  expect(check('Token', await send(admin, 'DELETE', `tokens/${id}`))).toBeUndefined();
});

test('endpoints that answer no client without a token, before a body is read, and open ones', async () => {
  const nobody = await push({ 'x-scope-orgid': 'shop' }, 'x');
  expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
    401,
    'Basic realm="logboom", charset="UTF-8"',
  ]);
  expect(await nobody.text()).toBe(
    'authentication required: send a token as the password of HTTP Basic, or as Bearer token\n',
  );
  // A body that never comes: the answer does not wait for it.
  const sending = request(`${url}/loki/api/v1/push`, { method: 'POST', headers: JSON_TYPE });
  sending.on('error', () => {});
  sending.write('{');
  const [unread] = (await once(sending, 'response')) as [IncomingMessage];
  expect(unread.statusCode).toBe(401);
  sending.destroy();
  for (const path of ['/ready', '/loki/api/v1/status/buildinfo']) {
    expect((await fetch(url + path)).status).toBe(200);
  }
  for (const path of [
    '/metrics',
    '/config',
    '/services',
    '/ring',
    '/svc/api/v1/tokens',
    '/svc/api/v1/auth/me',
  ]) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 401]);
    expect([path, (await fetch(url + path, { headers: bearer(admin) })).status]).toEqual([path, 200]);
  }
});

test('every response has security headers: successes, refusals, errors of the gateway, upgrades', async () => {
  const answers = [
    await fetch(`${url}/ready`),
    await fetch(`${url}/nowhere`),
    await push({}, 'x'),
    await fetch(`${url}/ring`, { headers: bearer(admin) }),
  ];
  for (const { headers } of answers) {
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  }
});

describe('live tails', () => {
  const query = { query: '{app="a"}' };

  test('accepts a token; refuses a tail before the upgrade without one, with a wrong scope, for another tenant', async () => {
    const read = await make('tailer', ['logs:read'], ['tails']);
    const write = await make('writer', ['logs:write'], ['tails']);
    const tail = await openTail({ url }, query, { tenant: 'tails', headers: bearer(read) });
    expect((await push(bearer(write), 'live')).status).toBe(204);
    expect(await tail.atLeast(1)).toEqual(['live']);
    await tail.close();
    expect((await refusedTail({ url }, query)).status).toBe(401);
    expect((await refusedTail({ url }, query, { headers: bearer(write) })).status).toBe(403);
    expect((await refusedTail({ url }, query, { headers: bearer(read, 'shop') })).status).toBe(403);
  });

  test('accepts a ticket once, for its tenant, and for no page of another site', async () => {
    const read = await make('page', ['logs:read'], ['x', 'y']);
    const ask = async (tenant: string) => {
      const answer = await fetch(`${url}/svc/api/v1/auth/ticket`, {
        method: 'POST',
        headers: basic(tenant, read),
      });
      return (await answer.json()) as { data: { ticket: string; tenant: string } };
    };
    const { data } = await ask('x');
    expect(data.tenant).toBe('x');
    const params = { ...query, ticket: data.ticket };
    const foreign = await refusedTail({ url }, params, { headers: { origin: 'https://evil.example' } });
    expect([foreign.status, foreign.text]).toEqual([403, expect.stringContaining('pages of other sites')]);
    const tail = await openTail({ url }, params, { tenant: '', headers: { origin: url } });
    await tail.close();
    expect((await refusedTail({ url }, params)).status).toBe(401);
    const other = await ask('y');
    const asX = await refusedTail(
      { url },
      { ...query, ticket: other.data.ticket },
      { headers: { 'x-scope-orgid': 'x' } },
    );
    expect(asX.status).toBe(403);
    const elsewhere = await fetch(`${url}/loki/api/v1/labels?ticket=${(await ask('x')).data.ticket}`);
    expect(elsewhere.status).toBe(401);
  });
});

test('returns the identity of the client', async () => {
  const token = await make('me', ['logs:read', 'rules:read'], ['shop']);
  const me = await fetch(`${url}/loki/api/v1/auth/me`, { headers: basic('shop', token) });
  expect(await me.json()).toEqual({
    status: 'success',
    data: {
      tokens_enabled: true,
      auth_enabled: true,
      scopes: ['logs:read', 'rules:read'],
      tenants: ['shop'],
      token: { id: token.slice(5, 16), name: 'me', expires: null },
    },
  });
});

test('the command line lists and revokes, on the files and by the API', async () => {
  const token = await make('gone soon', ['logs:read'], ['shop']);
  const id = token.slice(5, 16);
  const env = { LOGBOOM_BEARER_TOKEN: admin };
  const listed = await logboom(['token', 'list', '--addr', url, '--output', 'json'], { env });
  const found = (JSON.parse(listed.stdout) as { id: string; name: string }[]).find(one => one.id === id);
  expect(found).toMatchObject({ name: 'gone soon', state: 'active', last_used: null });
  expect(listed.stdout).not.toContain(token.slice(17));
  const revoked = await logboom(['token', 'revoke', id, ...place()]);
  expect(revoked).toEqual({ code: 0, stdout: `${id}  revoked\n`, stderr: '' });
  expect(await lines(bearer(token))).toBe(401);
  const refused = await logboom(['token', 'list', '--addr', url], { env: { LOGBOOM_BEARER_TOKEN: token } });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('the token has been revoked')]);
});

test.each([
  ['no JSON', '{', 400],
  ['a list', '[]', 400],
  ['a strange key', '{"name":"x","scopes":["admin"],"tenants":["a"],"hash":"00"}', 400],
  ['a scope that is no list', '{"name":"x","scopes":"admin","tenants":["a"]}', 400],
  ['a time without a zone', '{"name":"x","scopes":["admin"],"tenants":["a"],"expires":"2099-01-01"}', 400],
  ['a prototype', '{"__proto__":{"name":"x"},"scopes":["admin"],"tenants":["a"]}', 400],
  ['too much', `{"name":"${'x'.repeat(70_000)}"}`, 413],
])('no token is made of %s', async (_, body, status) => {
  const headers = { ...bearer(admin), ...JSON_TYPE };
  expect((await fetch(`${url}/svc/api/v1/tokens`, { method: 'POST', headers, body })).status).toBe(status);
});
