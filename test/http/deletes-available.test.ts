/** Availability of the delete API (docs/dev/wire-format.md#availability, #status-of-tenant-errors). */
import { beforeEach, expect, test } from '@jest/globals';
import type { DeletionMode } from '../../shared/base/model/limits.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { START_MS, type TestProcess, testStores } from '../maintenance/store.ts';
import { type AskedFor, acme, DELETE_PATH, fetchDeletes, shownAnswer } from './delete-calls.ts';

const ENDPOINTS = [
  ['POST', DELETE_PATH],
  ['PUT', '/svc/api/v1/delete'],
  ['GET', DELETE_PATH],
  ['DELETE', DELETE_PATH],
  ['GET', '/loki/api/v1/status/deletes'],
  ['GET', '/loki/api/v1/cache/generation_numbers'],
  ['POST', '/svc/api/v1/cache/generation_numbers/increase'],
] as const;
const GOOD = { query: '{app="x"}', start: START_MS / 1000 - 3600 };

let process: TestProcess;
function start(config: Partial<Config> = {}): void {
  process = testStores({}, config).process(1);
}
beforeEach(() => start());

const shown = (...request: AskedFor) => shownAnswer(process, ...request);
const modes = (deletionMode: DeletionMode) => ({ limits: { ...DEFAULT_CONFIG.limits, deletionMode } });

test.each(ENDPOINTS)('%s %s requires exactly one tenant', async (method, path) => {
  expect(await shown(method, GOOD, { path, headers: {} })).toEqual([401, 'no org id\n']);
  expect(await shown(method, GOOD, { path, headers: { 'x-scope-orgid': 'a|b' } })).toEqual([
    400,
    'multiple org IDs present\n',
  ]);
  expect(await shown(method, GOOD, { path, headers: { 'x-scope-orgid': 'a/b' } })).toEqual([
    400,
    "tenant ID 'a/b' contains unsupported character '/'\n",
  ]);
});

test.each(ENDPOINTS)(
  '%s %s returns 403 if deletes are disabled for the tenant, before other checks',
  async (method, path) => {
    start(modes('disabled'));
    const answer: [number, string] = [403, 'deletion is not available for this tenant\n'];
    expect(await shown(method, {}, { path })).toEqual(answer);
    expect(await shown(method, GOOD, { path })).toEqual(answer);
    expect((await shown(method, GOOD, { path, headers: {} }))[0]).toBe(401);
  },
);

test.each(ENDPOINTS)(
  '%s %s returns 404 without retention, with or without a tenant',
  async (method, path) => {
    start({ compactor: { ...DEFAULT_CONFIG.compactor, retentionEnabled: false } });
    for (const headers of [acme, {}]) {
      expect(await shown(method, GOOD, { path, headers })).toEqual([404, '404 page not found\n']);
    }
  },
);

test.each(['filter-only', 'filter-and-delete'] as const)(
  'the delete API is available in mode %s',
  async mode => {
    start(modes(mode));
    const { headers } = await fetchDeletes(process, 'POST', GOOD);
    const id = headers['x-delete-request-id'];
    expect(JSON.parse((await shown('GET'))[1])).toMatchObject([{ request_id: id }]);
    expect(await shown('DELETE', { request_id: id })).toEqual([204, '']);
  },
);

test('other methods return 405', async () => {
  expect((await shown('PATCH', GOOD))[0]).toBe(405);
});
