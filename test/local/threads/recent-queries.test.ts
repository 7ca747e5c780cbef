import { expect, test } from '@jest/globals';
import { noteQuery, recentThread, sharedRecentQueries } from '../../../local/threads/recent-queries.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

test('the thread that served the latest query of a tenant is known for ten minutes', () => {
  const shared = sharedRecentQueries();
  expect(recentThread(shared, 'a', NOW_MS)).toBeUndefined();
  noteQuery(shared, 'a', 2, NOW_MS);
  noteQuery(shared, 'a', 1, NOW_MS + 1000);
  expect(recentThread(shared, 'a', NOW_MS + 600_000)).toBe(1);
  expect(recentThread(shared, 'a', NOW_MS + 601_000)).toBeUndefined();
  expect(recentThread(shared, 'b', NOW_MS)).toBeUndefined();
});

test('any tenant ID has a row', () => {
  const shared = sharedRecentQueries();
  for (const tenant of ['', 'ü', 'x'.repeat(150), ...Array.from({ length: 3000 }, (_, i) => `tenant-${i}`)]) {
    noteQuery(shared, tenant, 4, NOW_MS);
    expect(recentThread(shared, tenant, NOW_MS)).toBe(4);
  }
});
