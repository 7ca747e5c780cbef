/** Page reads: adjacent pages are one read, and the first reads are short. */
import { expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, rangeQuery, requester } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

const STREAMS = 14;
/** One page of a large push: above the size at which a page ends with its stream. */
const STREAM_BYTES = 150_000;
const LINE_BYTES = 10_000;

/** The store, and the bytes of each read of it. */
async function storeWithPages() {
  const store = memoryObjectStore();
  const reads: number[] = [];
  const buffers: ArrayBufferLike[] = [];
  const counting = {
    ...store,
    getRange: async (key: string, start: number, end: number) => {
      reads.push(end - start);
      const bytes = Buffer.allocUnsafeSlow(end - start);
      (await store.getRange(key, start, end)).copy(bytes);
      buffers.push(bytes.buffer);
      return bytes;
    },
  };
  const catalog = new Catalog({
    table: memoryTable({ clock: SYSTEM_CLOCK }),
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
  });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  const rows = STREAM_BYTES / LINE_BYTES;
  const entries = Array.from({ length: STREAMS * rows }, (_, i) => ({
    stream: { app: `app-${String(Math.floor(i / rows)).padStart(2, '0')}` },
    day: DAY,
    // The streams one after the other.
    time: i * 1e9,
    line: `line ${i} `.padEnd(LINE_BYTES, 'some text '),
    metadata: {},
  }));
  await committer.commit('t', pushOf(entries));
  return { store: counting, catalog, reads, buffers };
}

const stored = await storeWithPages();

async function asking(cache?: PageCache) {
  const { store, catalog, reads } = stored;
  const engine = new QueryEngine({ catalog, source: new ChunkSource(store, cache), clock: SYSTEM_CLOCK });
  const ask = async (query: string, limit = 1) => {
    reads.length = 0;
    const range = rangeQuery(query, { limit, backward: false });
    const { result, statistics } = await engine.range(range, requester());
    return { result, statistics, reads: [...reads] };
  };
  // Brings the footer.
  await ask('{app="none"}');
  return ask;
}

const COUNT = 'sum(count_over_time({app=~".+"} |= "line" [1m]))';

test('adjacent pages are one read, and reads grow', async () => {
  const ask = await asking();
  const { statistics, reads } = await ask(COUNT);
  expect(statistics.pagesRead).toBe(STREAMS);
  // Reads of 4 pages, 8 pages, and the rest.
  expect(reads).toHaveLength(3);
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBe(statistics.compressedBytes);
});

test('separate pages are read separately, without the data between them', async () => {
  const ask = await asking();
  const all = await ask(COUNT);
  const some = await ask('sum(count_over_time({app=~"app-0[0137]"} |= "line" [1m]))');
  expect(some.statistics.pagesRead).toBe(4);
  expect(some.statistics.compressedBytes).toBeLessThanOrEqual(all.statistics.compressedBytes);
});

test('a query that ends early reads little', async () => {
  const ask = await asking();
  const { statistics } = await ask('{app=~".+"}');
  expect(statistics.entriesReturned).toBe(1);
  expect(statistics.pagesRead).toBeLessThanOrEqual(4);
});

test('cached pages are not read', async () => {
  const ask = await asking(new PageCache(64_000_000));
  const first = await ask(COUNT);
  await ask(COUNT);
  const third = await ask(COUNT);
  expect(third.reads).toEqual([]);
  expect(third.statistics.compressedBytes).toBe(0);
  expect(third.result).toEqual(first.result);
  expect(third.statistics.lines).toBe(first.statistics.lines);
});

test.each([
  ['of a whole scan', COUNT, 1],
  ['of one that ends early', '{app=~".+"}', 1],
])('read buffers are released: %s', async (_, query, limit) => {
  const ask = await asking();
  stored.buffers.length = 0;
  const { reads } = await ask(query, limit);
  // A read ahead that no query awaited may end later.
  await new Promise(done => setTimeout(done, 0));
  expect(stored.buffers).toHaveLength(reads.length);
  expect(stored.buffers.every(buffer => (buffer as ArrayBuffer).detached)).toBe(true);
});
