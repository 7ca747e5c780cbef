/**
 * Two tenants with the same streams, rules and deletes, one store with tokens: whatever the holder of a token for the one asks,
 * in whatever order and however the tenant is named, no answer shows what belongs to the other, and nothing of the other changes.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SCOPES } from '../../shared/base/model/scopes.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { START_MS, testStores } from '../maintenance/store.ts';

/**
 * Occurs only in data of the other tenant, and in no request: a write would store the word with the tenant that
 * sends it.
 */
const SECRET = 'sesame';
/** The rule namespace of the other tenant; requests do guess it. */
const THEIR_NAMESPACE = 'cave';
const JSON_TYPE = 'application/json';
const NAMES = ['mine', 'theirs', 'mine|theirs', 'theirs|mine', 'THEIRS', 'theirs|', '*', '', undefined];

function pushOf(line: string) {
  const values = [[`${START_MS}000000`, line, { trace: line }]];
  return JSON.stringify({ streams: [{ stream: { app: 'a', secret: line }, values }] });
}

const rulesOf = (word: string) =>
  `name: ${word}\nrules:\n  - record: ${word}\n    expr: 'sum(rate({app="a"} |= "${word}" [1m]))'\n`;

const params = (word: string) =>
  new URLSearchParams({
    query: '{app="a"}',
    start: `${START_MS / 1000 - 60}`,
    end: `${START_MS / 1000 + 60}`,
    explain: 'true',
    request_id: word,
  });

test('a token of one tenant shows and changes nothing of another', async () => {
  const stores = testStores(
    {},
    {
      access: { ...DEFAULT_CONFIG.access, tokensEnabled: true },
      querier: { ...DEFAULT_CONFIG.querier, multiTenantQueriesEnabled: true },
      patternIngester: { enabled: true },
    },
  );
  const { ask, context } = stores.process(1);
  const tokenOf = async (tenant: string) => {
    const scopes = SCOPES.filter(scope => scope !== 'admin' || tenant === 'mine');
    return (await context.access.tokens.create({ name: tenant, scopes, tenants: [tenant] })).token;
  };
  const [mine, theirs] = [await tokenOf('mine'), await tokenOf('theirs')];

  const send = (
    token: string,
    method: string,
    path: string,
    more: Partial<HttpRequest> = {},
  ): Promise<HttpResponse> =>
    ask(method, path, { ...more, headers: { authorization: `Bearer ${token}`, ...more.headers } });
  const fill = async (token: string, word: string, namespace: string) => {
    const headers = { 'content-type': JSON_TYPE };
    const pushed = await send(token, 'POST', '/loki/api/v1/push', {
      headers,
      body: Buffer.from(pushOf(word)),
    });
    expect(pushed.status).toBe(204);
    const set = await send(token, 'POST', `/loki/api/v1/rules/${namespace}`, {
      body: Buffer.from(rulesOf(word)),
    });
    expect(set.status).toBe(202);
    const rawQuery = `${new URLSearchParams({ query: `{app="none"} |= "${word}"`, start: '1600000000', end: '1600000100' })}`;
    const deleted = await send(token, 'POST', '/loki/api/v1/delete', { rawQuery });
    expect([deleted.status, `${deleted.body}`]).toEqual([204, '']);
  };
  await fill(theirs, SECRET, THEIR_NAMESPACE);
  await fill(mine, 'moonlit', 'moonlit');
  const stateOf = async () => {
    const shown: string[] = [];
    for (const path of ['query_range', 'rules', 'delete', 'labels']) {
      const rawQuery = path === 'delete' ? '' : `${params('x')}`;
      const { body } = await send(theirs, 'GET', `/loki/api/v1/${path}`, { rawQuery });
      // Statistics contain times.
      shown.push(
        Buffer.from(body)
          .toString()
          .replace(/"(stats|explain)":.*/s, ''),
      );
    }
    return shown;
  };
  const before = await stateOf();
  expect(before.map(text => text.includes(SECRET))).toEqual([true, true, true, false]);

  const endpoint = fc.constantFrom(
    ...ROUTES.flatMap(route => route.methods.map(method => [method, route.path] as const)),
  );
  await fc.assert(
    fc.asyncProperty(
      endpoint,
      fc.constantFrom(...NAMES),
      fc.constantFrom(...NAMES),
      fc.constantFrom(THEIR_NAMESPACE, 'app', 'secret', 'moonlit', '..', '../theirs', 'mine%2F..%2Ftheirs'),
      async ([method, path], user, header, word) => {
        const login =
          user === undefined
            ? `Bearer ${mine}`
            : `Basic ${Buffer.from(`${user}:${mine}`).toString('base64')}`;
        const headers: Record<string, string> = { authorization: login, 'content-type': JSON_TYPE };
        if (header !== undefined) headers['x-scope-orgid'] = header;
        const filled = path.replaceAll(/\{\w+\}/g, word);
        const rawQuery = `${params('moonlit')}`;
        const answer = await ask(method, filled, {
          rawQuery,
          headers,
          body: Buffer.from(rulesOf('moonlit')),
        });
        const text = Buffer.from(answer.body).toString();
        expect(text).not.toContain(SECRET);
        const namesOther = [user, header].some(name => name !== undefined && /theirs/i.test(name));
        if (namesOther) expect(text).not.toContain('moonlit');
      },
    ),
    { numRuns: 400 },
  );
  expect(await stateOf()).toEqual(before);
});
