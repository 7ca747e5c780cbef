/** Tenants of a request, and which part of it may set them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClientError } from '../../shared/base/model/errors.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import type { Identity } from '../../shared/server/auth/identity.ts';
import { ADMIN_STORE, METRICS, OPEN, READ_LOGS } from '../../shared/server/http/access.ts';
import { assembleAccess } from '../../shared/server/http/assemble-access.ts';
import { credentialsOf } from '../../shared/server/http/credentials.ts';
import { hardenedHeaders } from '../../shared/server/http/hardening.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { manualClock } from '../support/manual-clock.ts';
import { request, tenants } from './request.ts';

const clock = manualClock();
const ids = seededIds(5);
const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
type Access = Config['access'];

function accessWith(given: Partial<Access> = {}, more: { authEnabled?: boolean; trusts?: boolean } = {}) {
  const { authEnabled = true, trusts = false } = more;
  const config: Config = {
    ...DEFAULT_CONFIG,
    auth: { ...DEFAULT_CONFIG.auth, authEnabled, noAuthTenant: 'one' },
    access: { ...DEFAULT_CONFIG.access, tokensEnabled: true, ...given },
  };
  return assembleAccess({ config, catalog, clock, ids, trustsAuthorizer: trusts });
}

const access = accessWith();
const tokenFor = async (tenants: readonly string[]) =>
  (await access.tokens.create({ name: 'x', scopes: ['logs:read'], tenants })).token;
const basic = (user: string, token: string) => `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;

/** The tenants that a handler sees, or the refusal. */
async function seen(headers: Record<string, string>, { guard } = access): Promise<string> {
  try {
    const admitted = await guard.admit(READ_LOGS, request({ headers }));
    expect(admitted.headers).not.toHaveProperty('x-scope-orgid');
    const { tenants } = admitted;
    return tenants?.kind === 'resolved' ? `200 ${tenants.key}` : `200, then ${tenants?.status}`;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return `${error.status} ${error.message}`;
  }
}

const NOT_NAMED = '401 no org id: name the tenant as the user of HTTP Basic or in X-Scope-OrgID';
const CONTRADICTION = '403 the header X-Scope-OrgID names other tenants than the user of HTTP Basic';
const notFor = (tenant: string) => `403 the token is not for the tenant "${tenant}"`;

describe('tenants', () => {
  // [tenants of the token, user of Basic (undefined: Bearer), header, result]
  const ROWS: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
    ['a', undefined, undefined, '200 a'],
    ['a', '', undefined, '200 a'],
    ['a', 'a', undefined, '200 a'],
    ['a', undefined, 'a', '200 a'],
    ['a', 'a', 'a', '200 a'],
    ['a', 'b', undefined, notFor('b')],
    ['a', undefined, 'b', notFor('b')],
    ['a', 'a', 'b', CONTRADICTION],
    ['a', 'a', 'a|b', CONTRADICTION],
    ['a', 'a|b', undefined, notFor('b')],
    ['a', undefined, 'a|b', notFor('b')],
    ['a', undefined, 'b|a', notFor('b')],
    ['a', '|', undefined, '200 a'],
    ['a', undefined, 'a:x', notFor('a:x')],
    ['a', undefined, 'A', notFor('A')],
    ['a', undefined, ' a', notFor(' a')],
    ['a', undefined, '*', notFor('*')],
    ['a,b', undefined, undefined, NOT_NAMED],
    ['a,b', '', undefined, NOT_NAMED],
    ['a,b', 'a|b', undefined, '200 a|b'],
    ['a,b', 'b|a', 'a|b', '200 a|b'],
    ['a,b', 'a', 'a|b', CONTRADICTION],
    ['a,b', undefined, 'b', '200 b'],
    ['a,b', undefined, 'a|c', notFor('c')],
    ['*', undefined, undefined, NOT_NAMED],
    ['*', 'z', undefined, '200 z'],
    ['*', undefined, 'a|z', '200 a|z'],
    // The handler refuses invalid tenant names if the token allows all tenants.
    ['*', undefined, 'a b', '200, then 400'],
  ];
  test.each(ROWS)('a token for %s, user %p, header %p gives %s', async (tenants, user, header, want) => {
    const token = await tokenFor(tenants.split(','));
    const authorization = user === undefined ? `Bearer ${token}` : basic(user, token);
    const headers: Record<string, string> = { authorization };
    if (header !== undefined) headers['x-scope-orgid'] = header;
    expect(await seen(headers)).toBe(want);
  });

  test('a request never gets a tenant that its token does not cover', async () => {
    const tenant = fc.constantFrom('a', 'b', 'c', 'A', 'a ', '*', '', 'a:b', '..');
    const text = fc.array(tenant, { maxLength: 3 }).map(names => names.join('|'));
    const tokens = new Map<string, string>();
    for (const tenants of ['a', 'b', 'a,b']) tokens.set(tenants, await tokenFor(tenants.split(',')));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...tokens.keys()),
        fc.option(text, { nil: undefined }),
        fc.option(text, { nil: undefined }),
        async (tenants, user, header) => {
          const token = tokens.get(tenants)!;
          const authorization = user === undefined ? `Bearer ${token}` : basic(user, token);
          const headers: Record<string, string> = { authorization };
          if (header !== undefined) headers['x-scope-orgid'] = header;
          const got = await seen(headers);
          if (!got.startsWith('200 ')) return;
          for (const name of got.slice(4).split('|')) expect(tenants.split(',')).toContain(name);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a single-tenant store ignores the header, and the token must cover its tenant', async () => {
    const one = accessWith({}, { authEnabled: false });
    const good = await tokenFor(['one']);
    expect(await seen({ authorization: `Bearer ${good}`, 'x-scope-orgid': 'b' }, one)).toBe('200 one');
    expect(await seen({ authorization: basic('one', good) }, one)).toBe('200 one');
    expect(await seen({ authorization: basic('b', good) }, one)).toBe(notFor('b'));
    expect(await seen({ authorization: `Bearer ${await tokenFor(['*'])}` }, one)).toBe('200 one');
    expect(await seen({ authorization: `Bearer ${await tokenFor(['b'])}` }, one)).toBe(notFor('one'));
  });
});

describe('credentials', () => {
  test.each<[string, Record<string, string>, object | undefined]>([
    ['none', {}, undefined],
    ['an empty header', { authorization: '' }, undefined],
    ['Basic', { authorization: basic('a', 't') }, { token: 't', user: 'a' }],
    ['basic, spaces', { authorization: `basic   ${basic('a', 't').slice(6)}  ` }, { token: 't', user: 'a' }],
    ['Basic without padding', { authorization: 'Basic YTp0' }, { token: 't', user: 'a' }],
    ['Basic, colons in the password', { authorization: basic('a', 't:u:') }, { token: 't:u:', user: 'a' }],
    ['Bearer', { authorization: 'Bearer t' }, { token: 't' }],
    ['a key of Firehose', { 'x-amz-firehose-access-key': 't' }, { token: 't' }],
    ['a key with a tenant', { 'x-amz-firehose-access-key': 'a:t' }, { token: 't', user: 'a' }],
  ])('parses credentials with %s', (_, headers, want) => expect(credentialsOf(headers)).toEqual(want));

  test.each([
    'Basic',
    'Bearer',
    'Digest x',
    'Basic YQ==',
    'Bearer a b',
    'Bearer a, Basic b',
    `Bearer ${'x'.repeat(40_000)}`,
  ])('refuses credentials without a valid form: %.20s', authorization =>
    expect(() => credentialsOf({ authorization })).toThrow('must have the form'),
  );
});

describe('guards without tokens, with open access, and with an authorizer', () => {
  const identity: Identity = { tokenId: 'x', name: 'n', scopes: ['logs:read'], tenants: ['a'] };
  const NOBODY =
    '401 authentication required: send a token as the password of HTTP Basic, or as Bearer token';

  test('a request without tokens passes with the tenants of its header, and without an injected identity', async () => {
    const { guard } = accessWith({ tokensEnabled: false });
    const sent = request({ headers: { authorization: 'x', 'x-scope-orgid': 'b' } });
    expect(await guard.admit(ADMIN_STORE, sent)).toEqual({ ...sent, tenants: tenants('b') });
    expect((await guard.admit(READ_LOGS, { ...sent, identity })).identity).toBeUndefined();
  });

  test('an identity is accepted only from an authorizer, and is then required', async () => {
    const trusting = accessWith({}, { trusts: true });
    const ask = async (given: object, { guard } = trusting) =>
      guard.admit(READ_LOGS, request(given)).then(
        admitted => (admitted.tenants?.kind === 'resolved' ? admitted.tenants.key : undefined),
        error => `${error.status} ${error.message}`,
      );
    expect(await ask({ identity })).toBe('a');
    expect(await ask({ identity, headers: { 'x-scope-orgid': 'b' } })).toBe(notFor('b'));
    expect(await ask({ identity: { ...identity, expiresMs: clock.nowMs() } })).toBe(
      '401 the token has expired',
    );
    const token = await tokenFor(['a']);
    expect(await ask({ headers: { authorization: `Bearer ${token}` } })).toBe(NOBODY);
    expect(await ask({ identity }, access)).toBe(NOBODY);
  });

  test('metrics are open only if configured', async () => {
    const { guard } = accessWith({ metricsPublic: true });
    await guard.admit(METRICS, request());
    await expect(guard.admit(ADMIN_STORE, request())).rejects.toMatchObject({ status: 401 });
    await expect(access.guard.admit(METRICS, request())).rejects.toMatchObject({ status: 401 });
  });

  test.each([
    ['cross-site', undefined, 403],
    ['same-site', undefined, 403],
    ['cross-site', 'https://other.example', 403],
    ['cross-site', 'https://tools.example', 200],
    ['same-origin', undefined, 200],
    ['none', undefined, 200],
    [undefined, undefined, 200],
  ])(
    'a request with fetch site %p and mode %p gets %d, also without tokens',
    async (site, origin, status) => {
      const { guard } = accessWith({ tokensEnabled: false, allowedOrigins: ['https://tools.example'] });
      const headers = Object.fromEntries(
        Object.entries({ 'sec-fetch-site': site, origin }).filter(([, value]) => value !== undefined),
      ) as Record<string, string>;
      const outcome = guard.admit(READ_LOGS, request({ method: 'POST', headers }));
      if (status === 200) await outcome;
      else await expect(outcome).rejects.toMatchObject({ status });
      await guard.admit(OPEN, request({ headers }));
    },
  );
});

test('every response has security headers, and its own headers take precedence', () => {
  const page = { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" };
  expect(hardenedHeaders(page)).toEqual({
    ...page,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  expect(hardenedHeaders({}, { tlsOnly: true })).toHaveProperty('strict-transport-security');
});
