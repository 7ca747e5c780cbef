/**
 * After the 204 of a request, every query of every process hides the covered entries. After the 204 of its
 * cancellation, none does.
 */
import { expect, test } from '@jest/globals';
import type { DeletionMode } from '../../shared/base/model/limits.ts';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { fetchDeletes } from '../http/delete-calls.ts';
import { linesOf, pushLine, START_MS, testStores } from '../maintenance/store.ts';

const ALL = ['drop me', 'keep'];
const REQUEST = { query: '{app="a"} |= "drop"', start: START_MS / 1000 - 3600 };

function setUp(config: Partial<Config> = {}) {
  const stores = testStores({}, config);
  const [taker, other] = [stores.process(1), stores.process(2)];
  return {
    taker,
    other,
    push: async (tenant: string) => {
      for (const [i, line] of ALL.entries()) await pushLine(taker, tenant, START_MS - 1000 + i, line);
    },
    /** Entries that both processes see. */
    seen: async (tenant: string) => {
      const ask = () => [taker, other].map(one => linesOf(one, tenant, START_MS - MS_PER_HOUR, START_MS + 1));
      const [first, second] = await Promise.all(ask());
      expect(second).toEqual(first);
      return first;
    },
  };
}

test.each<DeletionMode>(['filter-and-delete', 'filter-only'])('%s', async deletionMode => {
  const { taker, other, push, seen } = setUp({ limits: { ...DEFAULT_CONFIG.limits, deletionMode } });
  await push('acme');
  await push('beta');
  expect(await seen('acme')).toEqual(ALL);
  const { headers } = await fetchDeletes(taker, 'POST', REQUEST);
  expect([await seen('acme'), await seen('beta')]).toEqual([['keep'], ALL]);
  // Includes late entries in a range that is being deleted.
  await push('acme');
  expect(await seen('acme')).toEqual(['keep']);
  const canceled = await fetchDeletes(other, 'DELETE', { request_id: headers['x-delete-request-id'] });
  expect(canceled.status).toBe(204);
  expect(await seen('acme')).toEqual(ALL);
});

test('a request that was made before deletes were forbidden hides nothing', async () => {
  const limits = { ...DEFAULT_CONFIG.limits };
  const { taker, push, seen } = setUp({ limits });
  await push('acme');
  expect((await fetchDeletes(taker, 'POST', REQUEST)).status).toBe(204);
  expect(await seen('acme')).toEqual(['keep']);
  Object.assign(limits, { deletionMode: 'disabled' });
  expect(await seen('acme')).toEqual(ALL);
});
