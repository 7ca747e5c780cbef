/**
 * Chunks with field columns and without give the same fields and values. The scan of the query may answer a parser from
 * columns; the fields that it then shows as parsed are those that the line has. Values of one field are answered from
 * columns too: `field-columns.test.ts` shows that lines are not read for them.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import { detectFields } from '../../../shared/read/insight/detected/detect-fields.ts';
import { detectValues } from '../../../shared/read/insight/detected/detect-values.ts';
import { ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import type { QueryEngine } from '../../../shared/read/query/engine.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import { columnEngine, everyField } from './column-engine.ts';

const { signal } = new AbortController();

/** Pages that were first read without their lines: for those columns did something. */
let fronts = 0;

class CountingSource extends ChunkSource {
  override pages(...given: Parameters<ChunkSource['pages']>): ReturnType<ChunkSource['pages']> {
    fronts += given[0].filter(
      ({ wants }) => wants.fieldColumns !== undefined && wants.lines !== 'bytes',
    ).length;
    return super.pages(...given);
  }
}

const sourceOf = (store: ObjectStore) => new CountingSource(store);

const QUERIES = [
  '{app="a"}',
  '{app="a"} |= "e"',
  '{app="a"} | json',
  '{app="a"} | json | status > 300',
  '{app="a"} | json | drop level',
  '{app="a"} | json code="http.status"',
  '{app="a"} | logfmt | level="error"',
  '{app="a"} | trace="t1"',
  '{app="a"} | level!="stored" | status!="label"',
];
const NAMES = ['status', 'level', 'took', 'http_status', 'code', 'app_extracted', 'trace'];

async function streamsOf(engine: QueryEngine, query: string, limit: number, field?: string) {
  const { result } = await engine.range(
    { ...rangeQuery(query, { limit, categorize: true }), field },
    requester(),
  );
  if (result.kind !== 'streams') throw new Error('not a log query');
  return result.streams;
}

/** @param asField the values of each name are requested by its name */
async function detected(engine: QueryEngine, query: string, limit: number, asField: boolean) {
  const streams = await streamsOf(engine, query, limit);
  const { fields } = await detectFields(streams, { limit: 1000, signal });
  const values: Record<string, readonly string[]> = {};
  for (const name of NAMES) {
    const some = asField ? await streamsOf(engine, query, limit, name) : streams;
    values[name] = (await detectValues(some, name, { limit: 1000, signal })).values;
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
  fc.constantFrom(
    '',
    'plain words',
    '{"status":200,"status":500}',
    '{"status":',
    'level=error level=info',
    ' {"status":301}',
    // An empty object to the parser of JSON, pairs to that of logfmt.
    ' {}=1 status=200 level=error',
  ),
);
const entry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.constantFrom<DatedEntry['stream']>(
    { app: 'a' },
    { app: 'a', status: 'label' },
    { app: 'a', level: 'label' },
  ),
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
      fc.constantFrom(1, 2),
      async (entries, limit, chunks) => {
        const plain = await columnEngine(entries, { indexer: undefined, sourceOf, chunks });
        const withColumns = await columnEngine(entries, { indexer: everyField(), sourceOf, chunks });
        for (const query of QUERIES) {
          const want = await detected(plain, query, limit, false);
          expect(await detected(withColumns, query, limit, true)).toEqual(want);
        }
      },
    ),
    { numRuns: 10 },
  );
  expect(fronts).toBeGreaterThan(0);
});
