/** The cache of delete requests in a process contains nothing that was read in the middle of a change. */
import { expect, test } from '@jest/globals';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { DeleteFilterSource, SETTLED_MS } from '../../shared/upkeep/deletion/delete-filters.ts';
import { manualClock } from '../support/manual-clock.ts';

const REQUEST: DeleteRequest = {
  id: '00000001',
  tenant: 't',
  query: '{app="a"}',
  startNs: 0n,
  endNs: 1n,
  intervalNs: 0n,
  createdMs: 1,
  ...NOT_BEGUN,
};

function world() {
  const clock = manualClock();
  const seen = { version: 7, requests: [] as DeleteRequest[], lists: 0 };
  const deletes = {
    version: async () => seen.version,
    list: async () => {
      seen.lists++;
      return [...seen.requests];
    },
  };
  return { clock, seen, source: new DeleteFilterSource({ deletes, clock }) };
}

test('a version that is seen before its request hides nothing of it, and only until the request is there', async () => {
  const { seen, source } = world();
  const before = await source.filtersOf('t');
  expect(before.isEmpty).toBe(true);
  // The rest of the transaction; its process does not raise the version again.
  seen.requests.push(REQUEST);
  const after = await source.filtersOf('t');
  expect(after.isEmpty).toBe(false);
  expect(after.version).not.toBe(before.version);
});

test('requests are read for each query until their version is settled, and never again', async () => {
  const { clock, seen, source } = world();
  seen.requests.push(REQUEST);
  const first = await source.filtersOf('t');
  clock.advance(SETTLED_MS - 1);
  expect(await source.filtersOf('t')).toBe(first);
  expect(seen.lists).toBe(2);
  clock.advance(1);
  expect(await source.filtersOf('t')).toBe(first);
  expect(seen.lists).toBe(3);
  clock.advance(SETTLED_MS);
  expect(await source.filtersOf('t')).toBe(first);
  expect(seen.lists).toBe(3);
  seen.version = 8;
  await source.filtersOf('t');
  expect(seen.lists).toBe(4);
});
