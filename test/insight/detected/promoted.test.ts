/**
 * Chunks with promoted columns and without give the same fields and values. The scan of the query may answer a parser from
 * columns; the fields that it then shows as parsed are those that the line has.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Catalog } from '../../../shared/catalog/catalog.ts';
import { newChunkId } from '../../../shared/catalog/chunk-id.ts';
import { storeChunk } from '../../../shared/catalog/chunk-object.ts';
import { QUICK_COMPRESSION } from '../../../shared/chunk/compression.ts';
import type { ChunkEnricher } from '../../../shared/chunk/enricher.ts';
import { writeChunk } from '../../../shared/chunk/writer.ts';
import { segmentsOf } from '../../../shared/ingest/segment.ts';
import { detectFields } from '../../../shared/insight/detected/detect-fields.ts';
import { detectValues } from '../../../shared/insight/detected/detect-values.ts';
import { seededIds, virtualClock } from '../../../shared/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/ports/memory/table.ts';
import { fieldKey } from '../../../shared/promoted/promoted-field.ts';
import { Promoter } from '../../../shared/promoted/promotion.ts';
import { ChunkSource } from '../../../shared/query/chunk-source.ts';
import { QueryEngine } from '../../../shared/query/engine.ts';
import { EVERYTHING } from '../../promoted/support.ts';
import { asker, DAY, rangeQuery } from '../../support/engine.ts';
import { type DatedEntry, pushOf } from '../../support/pushes.ts';

const clock = virtualClock((DAY + 1) * 86_400_000);
const { signal } = new AbortController();

/** A column for every field that can have one. */
function everyField(): ChunkEnricher {
  const promoter = new Promoter(EVERYTHING);
  return {
    page: (lines, offsets, rows) =>
      promoter.columnsOf(lines, offsets, rows).map(({ field, bytes }) => ({ name: fieldKey(field), bytes })),
    finish: () => [],
  };
}

/** Pages that were first read without their lines: for those columns did something. */
let fronts = 0;

class CountingSource extends ChunkSource {
  override pages(...given: Parameters<ChunkSource['pages']>): ReturnType<ChunkSource['pages']> {
    fronts += given[0].filter(({ wants }) => wants.promoted !== undefined && wants.lines !== 'bytes').length;
    return super.pages(...given);
  }
}

async function engineOf(entries: readonly DatedEntry[], enricher: ChunkEnricher | undefined) {
  const store = memoryObjectStore();
  const ids = seededIds(1);
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  for (const { day, rows } of segmentsOf([pushOf(entries)])) {
    const id = newChunkId(clock, ids);
    const head = { id, tenant: 't', day, level: 0, createdMs: clock.nowMs(), inputs: [] };
    const chunk = await writeChunk(head, rows, QUICK_COMPRESSION, enricher);
    await catalog.addChunks([await storeChunk(store, chunk, 0)]);
  }
  return new QueryEngine({ catalog, source: new CountingSource(store), clock });
}

const QUERIES = [
  '{app="a"}',
  '{app="a"} |= "e"',
  '{app="a"} | json',
  '{app="a"} | json | status > 300',
  '{app="a"} | json | drop level',
  '{app="a"} | json code="http.status"',
  '{app="a"} | logfmt | level="error"',
];
const NAMES = ['status', 'level', 'took', 'http_status', 'code', 'app_extracted', 'trace'];

async function detected(engine: QueryEngine, query: string, limit: number) {
  const { result } = await engine.range(rangeQuery(query, { limit, categorize: true }), asker());
  if (result.kind !== 'streams') throw new Error('not a log query');
  const { fields } = await detectFields(result.streams, { limit: 1000, signal });
  const values: Record<string, readonly string[]> = {};
  for (const name of NAMES) {
    values[name] = (await detectValues(result.streams, name, { limit: 1000, signal })).values;
  }
  return { fields, values };
}

const fields = fc.record(
  {
    status: fc.constantFrom(200, 301, 500, '500', '1e3'),
    level: fc.constantFrom('error', 'info', '', 'true'),
    took: fc.constantFrom('5ms', '1.5s', '12KB', '1m'),
    app: fc.constantFrom('inner', 'a'),
    http: fc.record({ status: fc.constantFrom(200, 404) }),
  },
  { requiredKeys: [] },
);
const asLogfmt = (given: object) =>
  Object.entries(given)
    .map(([key, value]) => `${key}=${typeof value === 'object' ? 'x' : JSON.stringify(value)}`)
    .join(' ');
const line = fc.oneof(
  { weight: 4, arbitrary: fields.map(given => JSON.stringify(given)) },
  { weight: 2, arbitrary: fields.map(asLogfmt) },
  fc.constantFrom('', 'plain words', '{"status":200,"status":500}', '{"status":', 'level=error level=info'),
);
const entry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.constantFrom<DatedEntry['stream']>({ app: 'a' }, { app: 'a', status: 'label' }),
  day: fc.constant(DAY),
  time: fc.integer({ min: 0, max: 1000 }).map(seconds => seconds * 1e9),
  line,
  metadata: fc.constantFrom<DatedEntry['metadata']>({}, { trace: 't1' }, { level: 'stored' }),
});

test('fields and values are the same with columns and without', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { minLength: 1, maxLength: 30, selector: ({ time }) => time }),
      fc.constantFrom(5, 1000),
      async (entries, limit) => {
        const plain = await engineOf(entries, undefined);
        const promoted = await engineOf(entries, everyField());
        for (const query of QUERIES) {
          expect(await detected(promoted, query, limit)).toEqual(await detected(plain, query, limit));
        }
      },
    ),
    { numRuns: 10 },
  );
  expect(fronts).toBeGreaterThan(0);
});
