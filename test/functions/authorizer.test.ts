/** The Lambda authorizer and the functions after it, with events as API Gateway sends them. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { assemble } from '../../functions/assemble.ts';
import { assembleTailFunction } from '../../functions/assemble-tail.ts';
import { identityIn } from '../../functions/authorizer-context.ts';
import {
  type AuthorizerHandler,
  assembleAuthorizer,
  type PolicyResponse,
  type SimpleResponse,
} from '../../functions/authorizer-handler.ts';
import type { LambdaHandler } from '../../functions/lambda-event.ts';
import { readSettings } from '../../functions/settings.ts';
import { createConnectHandler } from '../../functions/tail-handlers.ts';
import { memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { TicketService } from '../../shared/server/auth/ticket-service.ts';
import { TokenService } from '../../shared/server/auth/token-service.ts';
import { assembleAccess } from '../../shared/server/http/assemble-access.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { type GivenEvent, httpApiEvent, lambdaContext, textOf } from './events.ts';

const ARN = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/live/$connect';
const table = memoryTable({ clock: SYSTEM_CLOCK });
const parts = { table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, config: DEFAULT_CONFIG };
const catalog = new Catalog(parts);
const service = new TokenService({ ...parts, tokens: catalog.tokens });
let readToken: string;
let writeToken: string;
let readId: string;
let authorize: AuthorizerHandler;
const logged: unknown[] = [];

beforeAll(async () => {
  const read = await service.create({ name: 'r', scopes: ['logs:read'], tenants: ['a'] });
  const write = await service.create({ name: 'w', scopes: ['logs:write'], tenants: ['a', 'b'] });
  [readToken, readId, writeToken] = [read.token, read.record.id, write.token];
  authorize = assembleAuthorizer({ ...parts, log: { error: (error: unknown) => void logged.push(error) } });
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (user: string, token: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
});

/** A REQUEST authorizer is sent the event of its API, without the body. */
const requestEvent = (given: GivenEvent) => ({
  ...httpApiEvent(given),
  type: 'REQUEST',
  routeArn: 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/$default/POST/loki/api/v1/push',
  identitySource: [given.headers?.authorization ?? ''],
});

function connectEvent(headers: Record<string, string>, query: Record<string, string> = {}) {
  return {
    type: 'REQUEST',
    methodArn: ARN,
    headers: {
      Host: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
      'Sec-WebSocket-Version': '13',
      ...headers,
    },
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: query,
    multiValueQueryStringParameters: Object.fromEntries(Object.entries(query).map(([k, v]) => [k, [v]])),
    stageVariables: {},
    requestContext: {
      routeKey: '$connect',
      eventType: 'CONNECT',
      connectionId: 'L0SM9cOFvHcCIhw=',
      requestId: 'LIq2nFtdFiAFqRw=',
      stage: 'live',
      identity: { sourceIp: '203.0.113.7', userAgent: 'x' },
    },
  };
}

describe('the HTTP API', () => {
  const ask = async (headers: Record<string, string>) =>
    (await authorize(requestEvent({ method: 'POST', path: '/loki/api/v1/push', headers }))) as SimpleResponse;

  test('returns whose token it is, in a context of texts', async () => {
    for (const headers of [
      bearer(readToken),
      basic('a', readToken),
      { 'x-amz-firehose-access-key': readToken },
    ]) {
      const { isAuthorized, context } = await ask(headers);
      expect(isAuthorized).toBe(true);
      for (const value of Object.values(context ?? {})) expect(typeof value).toBe('string');
      expect(identityIn(context)).toEqual({
        tokenId: readId,
        name: 'r',
        scopes: ['logs:read'],
        tenants: ['a'],
      });
    }
  });

  test('the same for every tenant and route, as the gateway may keep it', async () => {
    const one = await ask({ ...bearer(writeToken), 'x-scope-orgid': 'a' });
    const other = await ask({ ...bearer(writeToken), 'x-scope-orgid': 'z' });
    expect(other).toEqual(one);
  });

  test.each([
    {},
    { authorization: 'Bearer x' },
    { authorization: 'Nonsense' },
    { authorization: 'Basic Og==' },
  ])('denies %j', async headers =>
    expect(await ask(headers as Record<string, string>)).toEqual({ isAuthorized: false }),
  );

  test('a revoked token is refused immediately, because nothing is cached here', async () => {
    const { token, record } = await service.create({ name: 'x', scopes: ['logs:read'], tenants: ['a'] });
    expect((await ask(bearer(token))).isAuthorized).toBe(true);
    await service.revoke(record.id);
    expect((await ask(bearer(token))).isAuthorized).toBe(false);
  });

  test('denies all if the table fails', async () => {
    const away = { ...table, get: () => Promise.reject(new Error('away')) };
    const broken = assembleAuthorizer({ ...parts, table: away, log: { error: () => {} } });
    await expect(broken(requestEvent({ headers: bearer(readToken) }))).rejects.toThrow('away');
  });
});

describe('$connect of the WebSocket API', () => {
  const ask = async (headers: Record<string, string>, query?: Record<string, string>) =>
    (await authorize(connectEvent(headers, query))) as PolicyResponse;

  test('allows clients that may tail, denies the others, and reports unknown clients', async () => {
    const allowed = await ask({ Authorization: basic('a', readToken).authorization });
    expect(allowed).toMatchObject({
      principalId: readId,
      policyDocument: {
        Version: '2012-10-17',
        Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: ARN }],
      },
    });
    expect(identityIn(allowed.context)?.tenants).toEqual(['a']);
    const effect = async (headers: Record<string, string>) =>
      (await ask(headers)).policyDocument.Statement[0].Effect;
    expect(await effect({ ...bearer(readToken), 'X-Scope-OrgID': 'b' })).toBe('Deny');
    expect(await effect({ ...bearer(writeToken), 'X-Scope-OrgID': 'a' })).toBe('Deny');
    // An exception would count as a failure of the function, and ring an alarm.
    for (const headers of [{}, bearer('x')]) {
      const { policyDocument, principalId, context } = await ask(headers as Record<string, string>);
      expect(policyDocument.Statement).toEqual([
        { Action: 'execute-api:Invoke', Effect: 'Deny', Resource: ARN },
      ]);
      expect([principalId, context]).toEqual(['nobody', undefined]);
    }
    expect(logged).toEqual([]);
  });

  test('accepts a ticket once', async () => {
    const { tickets } = assembleAccess({ ...parts, catalog });
    expect(tickets).toBeInstanceOf(TicketService);
    const { record } = await service.create({ name: 'p', scopes: ['logs:read'], tenants: ['a'] });
    const identity = { tokenId: record.id, name: 'p', scopes: record.scopes, tenants: record.tenants };
    const { ticket } = await tickets.give(identity, ['a']);
    expect(identityIn((await ask({}, { query: '{app="a"}', ticket })).context)).toMatchObject({
      tokenId: record.id,
      scopes: ['logs:read'],
      tenants: ['a'],
    });
    expect((await ask({}, { ticket })).policyDocument.Statement[0].Effect).toBe('Deny');
  });

  test.each([undefined, {}, { version: '1.0' }])('%j is not an event of either', async event => {
    await expect(authorize(event)).rejects.toThrow('this function accepts events of a REQUEST authorizer');
  });
});

describe('functions behind it', () => {
  const environment = { LOGBOOM_BUCKET: 'b', LOGBOOM_TABLE: 't', LOGBOOM_AUTHORIZATION: 'token' };
  const settings = readSettings({ ...environment, LOGBOOM_CONFIG_YAML: 'server: {log_level: error}' });
  let query: LambdaHandler;
  beforeAll(() => {
    query = assemble('query', settings, { store: memoryObjectStore(), table, print: () => {} });
  });

  async function ask(identity: object | undefined, headers: Record<string, string> = {}) {
    const event = httpApiEvent({ path: '/loki/api/v1/labels', headers, timeEpoch: Date.now() });
    const authorizer = identity && { lambda: { logboom: JSON.stringify(identity) } };
    const requestContext = { ...event.requestContext, ...(authorizer && { authorizer }) };
    const result = await query({ ...event, requestContext }, lambdaContext());
    expect(result.headers).toHaveProperty('strict-transport-security');
    return [result.statusCode, textOf(result).trim()];
  }
  const reader = { tokenId: 'x', name: 'n', scopes: ['logs:read'], tenants: ['a'] };

  test('trust the authorizer, and check route and tenant', async () => {
    expect(await ask(reader)).toEqual([200, '{"status":"success"}']);
    expect((await ask(reader, basic('a', 'whatever')))[0]).toBe(200);
    expect(await ask(reader, { 'x-scope-orgid': 'b' })).toEqual([403, 'the token is not for the tenant "b"']);
    expect(await ask({ ...reader, scopes: ['logs:write'] })).toEqual([
      403,
      'the token does not have the scope logs:read; use a token that has it',
    ]);
    expect(await ask({ ...reader, expiresMs: 5 })).toEqual([401, 'the token has expired']);
  });

  test.each<[string, object | undefined]>([
    ['no word', undefined],
    ['a broken word', { ...reader, tenants: 'a' }],
    ['no scopes', { ...reader, scopes: undefined }],
  ])('refuse requests with %s, even with a valid token', async (_, identity) => {
    expect((await ask(identity, bearer(readToken)))[0]).toBe(401);
  });

  test('$connect, too', async () => {
    const connections = memoryConnections({ clock: SYSTEM_CLOCK });
    const stores = { store: memoryObjectStore(), table, print: () => {} };
    const connect = createConnectHandler(assembleTailFunction('tail-connect', settings, stores, connections));
    const open = async (identity: object | undefined, headers: Record<string, string> = {}) => {
      const event = connectEvent(headers, { query: '{app="a"}' });
      const authorizer = identity && {
        principalId: 'x',
        integrationLatency: 3,
        logboom: JSON.stringify(identity),
      };
      return (await connect({ ...event, requestContext: { ...event.requestContext, authorizer } }))
        .statusCode;
    };
    expect(await open(reader)).toBe(200);
    expect(await open(reader, { 'X-Scope-OrgID': 'b' })).toBe(403);
    expect(await open({ ...reader, scopes: ['admin'] })).toBe(403);
    expect(await open(undefined, bearer(readToken))).toBe(401);
  });

  test('a word similar to token is not a valid setting', () => {
    const read = (authorization: string) =>
      readSettings({ ...environment, LOGBOOM_AUTHORIZATION: authorization }).config.access.tokensEnabled;
    expect([read('token'), read('iam'), read('none'), read('')]).toEqual([true, false, false, false]);
    expect(() => read('tokens')).toThrow(
      'LOGBOOM_AUTHORIZATION must be iam, none, token or own-token, got "tokens"',
    );
  });
});

test.each([
  '{"__proto__":{"tokenId":"t","name":"n","scopes":["admin"],"tenants":["*"]}}',
  '{"constructor":{"prototype":{"tokenId":"t"}},"tokenId":"t"}',
  '{"tokenId":"t","name":"n","scopes":"admin","tenants":["*"]}',
  '{"tokenId":{},"name":"n","scopes":[],"tenants":[]}',
  '['.repeat(20_000),
  'null',
  '',
])('a foreign context is denied: %.60s', text => {
  expect(identityIn({ logboom: text })).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});
