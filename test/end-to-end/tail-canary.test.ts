/**
 * Two writers, readers that connect and disconnect, and compaction in parallel; `logboom canary` runs for
 * longer, with one reader.
 */
import { expect, test } from '@jest/globals';
import { runCanary } from './support/canary.ts';
import { startStore } from './support/store.ts';

test('each entry arrives once in every tail and once in a query', async () => {
  const store = await startStore('compactor: {compaction_interval: 1s}\nlogboom: {index_sync_interval: 1s}');
  try {
    const report = await runCanary({ url: store.url, tenant: 'canary', durationMs: 1_500, stayMs: 300 });
    // The number depends on the machine.
    expect(report.pushed).toBeGreaterThan(0);
    expect(report.connections).toBeGreaterThan(0);
    expect(report).toMatchObject({ missedInTail: 0, twiceInTail: 0, missedInQuery: 0, twiceInQuery: 0 });
  } finally {
    await store.stop();
  }
});
