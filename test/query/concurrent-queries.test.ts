/**
 * Pages are decompressed into buffers that the next page of any query overwrites, and a query yields to
 * others in the middle of a page. The result of a query must not depend on other queries.
 */
import { expect, test } from '@jest/globals';
import { NS_OF_MS } from '../../shared/base/model/time-units.ts';
import { DAY, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

const TENANTS = ['a', 'b', 'c', 'd'];
const LINES = 1500;

/** Overlapping chunks of 100 KiB with some common entries, so that lines are also read for deduplication. */
function chunkOf(tenant: string, chunk: number): DatedEntry[] {
  return Array.from({ length: LINES }, (_, i) => {
    const line = `tenant ${tenant} ${i % 7 === 0 ? 'common' : `chunk ${chunk}`} line ${i} ${'.'.repeat(40)}`;
    return {
      stream: { app: tenant },
      day: DAY,
      time: i * NS_OF_MS,
      line,
      metadata: { n: `${tenant}${i % 100}` },
    };
  });
}

test('concurrent queries each return their own lines', async () => {
  const store = memoryEngine(0);
  for (const tenant of TENANTS) for (const chunk of [0, 1]) await store.push(chunkOf(tenant, chunk), tenant);
  const run = async (tenant: string, query: string) => {
    const limits = { ...requester().limits, maxEntriesLimitPerQuery: 0 };
    const { result } = await store.engine.range(
      rangeQuery(query, { limit: 3 * LINES }),
      requester({ tenants: [tenant], limits }),
    );
    if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
    return result.streams.flatMap(stream => stream.entries.map(entry => entry.line)).sort();
  };
  const queries = (tenant: string) => [
    `{app="${tenant}"}`,
    `{app="${tenant}"} |~ "tenant . (common|chunk [01]) line [0-9]+"`,
    `{app="${tenant}"} | label_format x="{{ regexReplaceAll \\"([a-z]+) ([0-9]*)\\" (repeat 8 __line__) \\"$2\\" }}" | x != "" | drop x`,
  ];
  const answers = await Promise.all(
    TENANTS.flatMap(tenant =>
      queries(tenant).map(async query => ({ tenant, lines: await run(tenant, query) })),
    ),
  );
  for (const { tenant, lines } of answers) {
    const want = [0, 1].flatMap(chunk => chunkOf(tenant, chunk).map(entry => entry.line));
    expect(lines).toEqual([...new Set(want)].sort());
  }
});
