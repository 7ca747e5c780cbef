/** Queries over chunks that were handed over after their push: from memory, with the results of a store without that. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { DAY, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import { arbitraryEntries } from '../support/rows.ts';

const QUERIES = [
  '{app=~".+"}',
  '{app=~".+"} |= "same"',
  '{app="a"} |= "line"',
  '{app=~".+"} |~ "n=[12] l?i?n"',
  '{app="a"} != "line"',
  '{app=~".+"} | trace="x"',
  'sum by (app) (count_over_time({app=~".+"} | logfmt [1h]))',
  'sum by (n) (count_over_time({app=~".+"} | logfmt | n!="1" [1h]))',
  'sum by (pod) (bytes_over_time({app=~".+"}[1h]))',
];

test('every query returns what it returns without it, and reads nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryEntries(20), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (pushes, isInline) => {
        const inlineMaxBytes = isInline ? 4096 : 0;
        const handed = memoryEngine(inlineMaxBytes, new PageCache(10_000_000), true);
        const plain = memoryEngine(inlineMaxBytes);
        for (const entries of pushes) {
          const dated = entries.map((entry, i) => ({ ...entry, line: `n=${i % 3} ${entry.line}`, day: DAY }));
          await handed.push(dated);
          await plain.push(dated);
          // Pages that are queried again learn field columns, and then new pages do at their first query.
          for (const query of QUERIES) {
            const ask = ({ engine }: typeof plain) => engine.range(rangeQuery(query), requester());
            const { result, statistics } = await ask(handed);
            expect(result).toEqual((await ask(plain)).result);
            expect(statistics.compressedBytes).toBe(0);
          }
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a text that was never queried before is searched in memory, and pages without it are not read', async () => {
  const handed = memoryEngine(0, new PageCache(10_000_000), true);
  const line = (push: number, stream: string) =>
    `push ${push} of ${stream}: ${push === 1 ? 'rare text' : ''}`;
  const pushes = 3;
  for (let push = 0; push < pushes; push++) {
    const streams = ['a', 'b', 'c'];
    await handed.push(
      streams.map(app => ({ stream: { app }, day: DAY, time: push, line: line(push, app), metadata: {} })),
    );
  }
  // The streams are those of planned chunks: a chunk without the text is not planned.
  const found = async (query: string) => {
    const { statistics } = await handed.engine.range(rangeQuery(query), requester());
    const { pagesRead, postFilterLines, plan, streams } = statistics;
    return { pagesRead, found: postFilterLines, pruned: plan.pagesByText, streams };
  };
  expect(await found('{app=~".+"} |= "no such text"')).toEqual({
    pagesRead: 0,
    found: 0,
    pruned: 3,
    streams: 0,
  });
  expect(await found('{app=~".+"} |= "rare text"')).toEqual({
    pagesRead: 1,
    found: 3,
    pruned: 2,
    streams: 3,
  });
  expect(await found('{app=~".+"} |~ "rare (text|word)"')).toEqual({
    pagesRead: 1,
    found: 3,
    pruned: 2,
    streams: 3,
  });
  expect(await found('{app=~".+"} |= "no such text" or "rare"')).toEqual({
    pagesRead: 1,
    found: 3,
    pruned: 2,
    streams: 3,
  });
  // The stream in the middle of the page, whose neighbors have other texts.
  expect(await found('{app="b"} |= "of a"')).toEqual({ pagesRead: 0, found: 0, pruned: 3, streams: 0 });
  expect(await found('{app="b"} |= "of b"')).toEqual({ pagesRead: 3, found: 3, pruned: 0, streams: 1 });
  expect(await found('{app=~".+"} != "no such text"')).toEqual({
    pagesRead: 3,
    found: 9,
    pruned: 0,
    streams: 3,
  });
});

test('the cache keeps its limit under a flood of pushes, and what does not fit is read from the store', async () => {
  const maxBytes = 4_000_000;
  const pages = new PageCache(maxBytes);
  const { engine, push } = memoryEngine(0, pages, true);
  const text = 'text '.repeat(20_000);
  const pushes = 60;
  for (let i = 0; i < pushes; i++) {
    await push([{ stream: { app: 'a' }, day: DAY, time: i, line: `${i} ${text}`, metadata: {} }]);
    const { lineBytes, columnBytes } = pages.figures;
    expect(lineBytes + columnBytes).toBeLessThanOrEqual(maxBytes);
  }
  const { adopted } = pages.figures;
  expect(adopted).toBeGreaterThan(20);
  expect(adopted).toBeLessThan(pushes);
  const { statistics } = await engine.range(rangeQuery('{app="a"} |= "text text"'), requester());
  expect(statistics.postFilterLines).toBe(pushes);
});

test('a page that was handed over and evicted is unpacked from its stored bytes, and a deleted chunk is dropped', async () => {
  const pages = new PageCache(10_000_000);
  const { engine, push, catalog, sources } = memoryEngine(0, pages, true);
  await push([{ stream: { app: 'a' }, day: DAY, time: 1, line: 'a line', metadata: {} }]);
  expect(pages.figures).toMatchObject({ adopted: 1, unpacked: 0, pages: 1 });
  const records = (await catalog.day('t', DAY))!.records;
  sources.source.forgetChunks(new Set(records.map(({ tenant, id }) => `${tenant}/${id}`)));
  expect(pages.figures).toMatchObject({ pages: 0, lineBytes: 0 });
  const { statistics } = await engine.range(rangeQuery('{app="a"} |= "line"'), requester());
  expect(statistics.postFilterLines).toBe(1);
  expect(statistics.compressedBytes).toBeGreaterThan(0);
});
