/**
 * Field columns save work without changing results. The same entries are queried in a store with a column for
 * every field and in one without any, and with page caches with and without columns, where parsed columns are
 * cached.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClientError } from '../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { FieldColumnWriter } from '../../shared/execution/fields/field-column-writer.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { newChunkId } from '../../shared/storage/catalog/chunk-id.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import type { ChunkIndexer } from '../../shared/storage/chunk/chunk-indexer.ts';
import { ColumnKind } from '../../shared/storage/chunk/format.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { fieldKey } from '../../shared/storage/columns/column-field.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { after, before, cases, groupings, metadata, streams, unwraps } from '../fields/queries.ts';
import { EVERYTHING } from '../fields/support.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';
import { segmentList } from '../support/segments.ts';

const TENANTS = ['t', 'u'];
const clock = virtualClock((DAY + 3) * 86_400_000);

function everyField(): ChunkIndexer {
  const fieldWriter = new FieldColumnWriter(EVERYTHING);
  return {
    page: (lines, offsets, rows) =>
      fieldWriter
        .columnsOf(lines, offsets, rows)
        .map(({ field, bytes }) => ({ name: fieldKey(field), bytes })),
    finish: () => [],
  };
}

type IndexerFactory = () => ChunkIndexer | undefined;

/** Counts pages that were read without lines, those whose lines were read behind, and those of which columns were learned. */
class CountingSource extends ChunkSource {
  static fronts = 0;
  static rests = 0;
  static cached = 0;

  override pages(...given: Parameters<ChunkSource['pages']>): ReturnType<ChunkSource['pages']> {
    for (const { wants } of given[0]) {
      if (wants.fieldColumns !== undefined && wants.lines !== 'bytes') CountingSource.fronts++;
    }
    const pages = super.pages(...given);
    return pages.map(async (rows, i) => {
      const hasStored = given[0][i].page.columns.some(({ kind }) => kind === ColumnKind.field);
      if (!hasStored && (await rows).fieldColumns !== undefined) CountingSource.cached++;
      return rows;
    });
  }

  override more(...given: Parameters<ChunkSource['more']>): ReturnType<ChunkSource['more']> {
    CountingSource.rests++;
    return super.more(...given);
  }
}

/** Each push is a separate chunk in both tenants. */
async function storeOf(
  pushes: readonly (readonly DatedEntry[])[],
  deleted: readonly string[],
  createIndexer: IndexerFactory,
  cache?: PageCache,
) {
  const store = memoryObjectStore();
  // The same ids in every store: they decide which of equal entries is answered, and in which order.
  const ids = seededIds(1);
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  for (const tenant of TENANTS) {
    for (const entries of pushes) {
      for (const { day, rows } of segmentList([pushOf(entries)])) {
        const id = newChunkId(clock, ids);
        const head = { id, tenant, day, level: 0, createdMs: clock.nowMs(), inputs: [] };
        const chunk = await writeChunk(head, rows, QUICK_COMPRESSION, createIndexer());
        await catalog.addChunks([await storeChunk(store, chunk, 0)]);
      }
    }
  }
  const requests = TENANTS.flatMap(tenant => deleted.map((query, i) => requestFor(tenant, query, i)));
  const deletes = {
    list: async (tenant: string) => requests.filter(request => request.tenant === tenant),
    version: async () => requests.length,
  };
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes, clock }),
    limitsOf: () => DEFAULT_LIMITS,
    enabled: true,
  });
  return new QueryEngine({ catalog, source: new CountingSource(store, cache), clock, visibility });
}

function requestFor(tenant: string, query: string, i: number): DeleteRequest {
  return {
    id: i.toString(16).padStart(8, '0'),
    tenant,
    query,
    startNs: DAY_START_NS,
    endNs: DAY_START_NS + NS_PER_DAY,
    intervalNs: 0n,
    createdMs: clock.nowMs(),
    ...NOT_BEGUN,
  };
}

interface Asked {
  readonly query: string;
  readonly limit: number;
  readonly backward: boolean;
  readonly tenants: readonly string[];
}

/** Result of the query, or the client's error. */
async function answer(engine: QueryEngine, { query, limit, backward, tenants }: Asked) {
  const span = { startNs: DAY_START_NS, endNs: DAY_START_NS + 240_000_000_000n };
  try {
    const { result, statistics } = await engine.range(
      rangeQuery(query, { ...span, limit, backward, categorize: true }),
      requester({ tenants }),
    );
    const { lines, compressedBytes, duplicates } = statistics;
    // The number of matching lines before a limit ends the search depends on the time slices of a page.
    const postFilterLines = limit === 1000 ? statistics.postFilterLines : undefined;
    return { result, figures: { lines, postFilterLines, duplicates }, compressedBytes };
  } catch (error) {
    if (error instanceof ClientError)
      return { result: `${error.status} ${error.message}`, compressedBytes: 0 };
    throw error;
  }
}

function pushesOf(lines: fc.Arbitrary<string | Buffer>): fc.Arbitrary<DatedEntry[][]> {
  const entry = fc.record({
    stream: streams,
    day: fc.constant(DAY),
    time: fc.integer({ min: 0, max: 180 }).map(seconds => seconds * 1e9),
    line: lines.map(line => line.toString()),
    metadata,
  });
  const push = fc.array(entry, { minLength: 1, maxLength: 16 });
  // Some entries are pushed twice.
  return fc
    .tuple(fc.array(push, { minLength: 1, maxLength: 3 }), fc.nat(10))
    .map(([pushes, again]) => [...pushes, pushes[0].slice(0, again)].filter(({ length }) => length > 0));
}

const deletions = fc.oneof(
  { weight: 2, arbitrary: fc.constant<string[]>([]) },
  {
    weight: 1,
    arbitrary: fc.subarray(['{app="x"} |= "1"', '{app="x"} | json | status="200"', '{status="7"}']),
  },
);

const asked = (query: fc.Arbitrary<string>): fc.Arbitrary<Asked> =>
  fc.record({
    query,
    limit: fc.constantFrom(1, 3, 1000),
    backward: fc.boolean(),
    tenants: fc.constantFrom(['t'], TENANTS),
  });

describe.each(cases)('$name', ({ lines, parsers }) => {
  const logs = fc
    .tuple(before, parsers, after)
    .map(([first, parser, rest]) => `{app="x"} ${first} ${parser} ${rest}`);
  const metrics = fc
    .tuple(before, parsers, after, unwraps, groupings, fc.boolean(), fc.boolean())
    .map(([first, parser, rest, unwrap, by, bytes, errors]) => {
      const log = `{app="x"} ${first} ${parser} ${rest} ${unwrap} ${errors ? '| __error__=""' : ''}`;
      return unwrap === ''
        ? `sum by ${by} (${bytes ? 'bytes_over_time' : 'count_over_time'}(${log} [1m]))`
        : `quantile_over_time(0.9, ${log} [1m]) by ${by}`;
    });

  test('every result is equal with and without columns, and from cached pages', async () => {
    let hits = 0;
    CountingSource.fronts = 0;
    CountingSource.rests = 0;
    CountingSource.cached = 0;
    await fc.assert(
      fc.asyncProperty(
        pushesOf(lines),
        deletions,
        fc.array(asked(fc.oneof(logs, metrics)), { minLength: 4, maxLength: 8 }),
        async (pushes, deleted, queries) => {
          const plain = await storeOf(pushes, deleted, () => undefined);
          const withColumns = await storeOf(pushes, deleted, everyField);
          const cache = new PageCache(150_000);
          const cached = await storeOf(pushes, deleted, everyField, cache);
          const learning = await storeOf(pushes, deleted, () => undefined, new PageCache(150_000));
          for (const one of queries) {
            const { compressedBytes: _, ...wanted } = await answer(plain, one);
            const { compressedBytes: __, ...got } = await answer(withColumns, one);
            expect(got).toEqual(wanted);
            // The first two times bring pages into the cache; the third learns columns.
            for (let time = 0; time < 3; time++) {
              const { compressedBytes: ___, ...again } = await answer(cached, one);
              expect(again).toEqual(wanted);
            }
            for (let time = 0; time < 4; time++) {
              const { compressedBytes: ___, ...again } = await answer(learning, one);
              expect(again).toEqual(wanted);
            }
          }
          hits += cache.figures.hits;
        },
      ),
      { numRuns: 30 },
    );
    // The comparison must cover both cases: some pages use only columns, others do not.
    expect(CountingSource.rests).toBeGreaterThan(5);
    expect(CountingSource.fronts - CountingSource.rests).toBeGreaterThan(5);
    expect(hits).toBeGreaterThan(500);
    expect(CountingSource.cached).toBeGreaterThan(20);
  });
});

test('the tenant label of a multi-tenant query precedes a field of the same name', async () => {
  const entries = Array.from({ length: 8 }, (_, i) => ({
    stream: { app: 'x' },
    day: DAY,
    time: i * 1e9,
    line: `{"__tenant_id__":"line","i":${i}}`,
    metadata: {},
  }));
  const asking = {
    query: '{app="x"} | json | __tenant_id__="t"',
    limit: 1000,
    backward: false,
    tenants: TENANTS,
  };
  const plain = await answer(await storeOf([entries], [], () => undefined), asking);
  const withColumns = await answer(await storeOf([entries], [], everyField), asking);
  expect(withColumns.result).toEqual(plain.result);
  expect(withColumns.figures?.postFilterLines).toBe(entries.length);
});
