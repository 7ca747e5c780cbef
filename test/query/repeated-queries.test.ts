/** Repeated queries over lines that are not merged: from memory, and with the results of a store without caches. */
import { expect, test } from '@jest/globals';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { DAY, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

const ROWS = 200;
const START_NS = BigInt(DAY) * 86_400_000_000_000n;

/** Lines of three streams. The word "rare" is in one of them per push. */
function entries(push: number): DatedEntry[] {
  return Array.from({ length: ROWS }, (_, i) => ({
    stream: { app: ['api', 'shop', 'web'][i % 3], pod: `${push % 2}` },
    day: DAY,
    time: (push * ROWS + i) * 1e9,
    line: `level=${i % 40 === 0 ? 'error' : 'info'} n=${i} ${i === 77 ? 'rare' : 'usual'} ${'text '.repeat(i % 7)}`,
    metadata: {},
  }));
}

const QUERIES = [
  '{app=~".+"} |= "rare"',
  '{app=~".+"} != "rare"',
  '{app=~".+"} |~ "r[a]re"',
  '{app=~".+"} |> "<_> rare <_>"',
  '{app=~"api|web"} |= "level=error"',
  '{app="shop"} |= "rare" |= "n=77"',
  'sum by (app) (count_over_time({pod="1"} |= "error" [1m]))',
];

test('a query that is repeated reads nothing again, and later pushes and other ranges are found', async () => {
  const cached = memoryEngine(0, new PageCache(100_000_000));
  const plain = memoryEngine(0);
  for (let push = 0; push < 4; push++) {
    for (const { push: write } of [cached, plain]) await write(entries(push));
    for (const query of QUERIES) {
      const ask = ({ engine }: typeof plain, seconds: number) =>
        engine.range(rangeQuery(query, { endNs: START_NS + BigInt(seconds) * 1_000_000_000n }), requester());
      // 3,000 s are all pushes. The other range ends within the first one.
      for (const seconds of [90, 3000, 90, 3000]) {
        const found = await ask(cached, seconds);
        expect(found.result).toEqual((await ask(plain, seconds)).result);
      }
      expect((await ask(cached, 3000)).statistics.compressedBytes).toBe(0);
    }
  }
  const rare = await cached.engine.range(rangeQuery(QUERIES[0]), requester());
  expect(rare.statistics.postFilterLines).toBe(4);
  expect(rare.statistics.plan.pagesByText).toBe(0);
  // Filters with one byte have no search of whole pages.
  const absent = () => cached.engine.range(rangeQuery('{app=~".+"} |= "Z"'), requester());
  expect((await absent()).statistics.lines).toBe(4 * ROWS);
  expect((await absent()).statistics).toMatchObject({ lines: 0, plan: { pagesByText: 4 } });
});
