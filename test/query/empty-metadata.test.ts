/**
 * An empty value of structured metadata is equivalent to none. Earlier versions stored such values, so chunks
 * may contain them. No result shows them, counts by them, or treats entries that differ only in them as two.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import { findFields } from '../../shared/read/insight/detected/detect-fields.ts';
import { chunkId, inputOf, inputsOf, merge, objectOf } from '../compaction/support/merge-chunks.ts';
import { DAY, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';
import type { PlainEntry } from '../support/rows.ts';

function entry(time: number, metadata: Record<string, string>, line = `line ${time}`): DatedEntry {
  return { stream: { app: 'a' }, day: DAY, time: time * NS_OF_MINUTE, line, metadata };
}

type Store = ReturnType<typeof memoryEngine>;

async function storeOf(...pushes: DatedEntry[][]): Promise<Store> {
  const store = memoryEngine();
  for (const push of pushes) await store.push(push);
  return store;
}

async function entriesOf({ engine }: Store, query: string) {
  const { result } = await engine.range(
    rangeQuery(query, { categorize: true, backward: false }),
    requester(),
  );
  if (result.kind !== 'streams') throw new Error(result.kind);
  return result.streams.flatMap(({ text, entries }) =>
    entries.map(({ line, structuredMetadata = [], parsed = [] }) => [
      text,
      line,
      ...[...structuredMetadata, ...parsed].map(({ name, value }) => `${name}=${value}`),
    ]),
  );
}

/** The same as the API shows it without categories: labels of all kinds make the stream. */
async function streamsOf({ engine }: Store, query: string) {
  const { result } = await engine.range(rangeQuery(query), requester());
  if (result.kind !== 'streams') throw new Error(result.kind);
  return result.streams.map(({ text, entries }) => [text, entries.length]);
}

async function valuesOf({ engine }: Store, query: string) {
  const day = 1440n * BigInt(NS_OF_MINUTE);
  const { result } = await engine.range(rangeQuery(query, { stepNs: day }), requester());
  if (result.kind !== 'matrix') throw new Error(result.kind);
  return result.series.map(({ labels, values }) => [
    labels.map(({ name, value }) => `${name}=${value}`).join(),
    Math.max(...values),
  ]);
}

const rows: DatedEntry[] = [
  entry(1, { x: '', kept: 'v' }),
  entry(2, { kept: 'v' }),
  entry(3, { x: 'set', kept: 'v' }),
  entry(4, { x: '' }, '{"x":"of line","n":4}'),
  entry(5, { detected_level: '' }, 'x="" n=5'),
];
/** More distinct values than fit in the footer's dictionary, including an empty one. */
const many = Array.from({ length: 60 }, (_, i) => entry(i + 10, { id: i % 10 === 0 ? '' : `id-${i}` }));

describe.each([
  ['beside others in a small dictionary', rows],
  ['the only value of its column', rows.filter(({ metadata }) => metadata.x !== 'set')],
])('an empty value, %s', (_, pushed) => {
  const has = (line: string) => pushed.some(one => one.line === line);

  test('is not shown', async () => {
    const store = await storeOf(pushed);
    const shown = await entriesOf(store, '{app="a"}');
    expect(shown.flat().filter(text => text === 'x=' || text === 'detected_level=')).toEqual([]);
    expect(shown).toContainEqual(['{app="a"}', 'line 1', 'kept=v']);
    const streams = new Map((await streamsOf(store, '{app="a"} |~ "line [12]"')) as [string, number][]);
    expect(streams).toEqual(new Map([['{app="a", kept="v"}', 2]]));
  });

  // [query, lines]
  test.each<[string, string[]]>([
    ['{app="a"} | x="" |~ "^line"', ['line 1', 'line 2']],
    ['{app="a"} | x!="" |~ "^line"', ['line 3']],
    ['{app="a"} | x=~".*" |~ "^line"', ['line 1', 'line 2', 'line 3']],
    ['{app="a"} | x=~".+"', ['line 3']],
    ['{app="a"} | x!="set" |~ "^line"', ['line 1', 'line 2']],
    ['{app="a"} | json | x="of line"', ['{"x":"of line","n":4}']],
    ['{app="a"} | json | x_extracted="of line"', []],
    ['{app="a"} | x > 1', ['line 3']],
  ])('%s', async (query, want) => {
    const store = await storeOf(pushed);
    expect((await entriesOf(store, query)).map(([, line]) => line)).toEqual(want.filter(has));
  });

  test('does not split series', async () => {
    const store = await storeOf(pushed);
    const labels = async (query: string) => (await valuesOf(store, query)).map(([text]) => text);
    expect(await labels('sum by (x) (count_over_time({app="a"} | x!="set" [1d]))')).toEqual(['']);
    expect(await labels('count_over_time({app="a"} |~ "line [12]" [1d])')).toEqual(['app=a,kept=v']);
    expect(await labels('sum by (detected_level) (count_over_time({app="a"}[1d]))')).toEqual(['']);
    expect(await labels('sum by (x) (count_over_time({app="a"} | keep x | x!="set" [1d]))')).toEqual(['']);
    expect(await labels('sum by (x) (count_over_time({app="a"} | drop kept | x!="set" [1d]))')).toEqual(['']);
    expect(await labels('sum by (x) (sum_over_time({app="a"} | json | unwrap n [1d]))')).toContain(
      'x=of line',
    );
  });

  test('is not a detected field', async () => {
    const store = await storeOf(pushed.filter(({ line }) => line.startsWith('line')));
    const { fields } = await findFields(
      async field => {
        const query = rangeQuery('{app="a"}', { categorize: true, field });
        const { result } = await store.engine.range(query, requester());
        if (result.kind !== 'streams') throw new Error(result.kind);
        return result.streams;
      },
      { limit: 100, signal: new AbortController().signal },
    );
    const found = fields.map(({ label, cardinality }) => `${label} ${cardinality}`);
    expect(found).toEqual(has('line 3') ? ['kept 1', 'x 1'] : ['kept 1']);
  });
});

describe('an empty value in a large dictionary', () => {
  test('is not shown, filtered by or counted by', async () => {
    const store = await storeOf(many);
    expect((await entriesOf(store, '{app="a"}')).filter(shown => shown.includes('id='))).toEqual([]);
    expect(await entriesOf(store, '{app="a"} | id=""')).toHaveLength(6);
    expect(await valuesOf(store, 'sum by (id) (count_over_time({app="a"}[1d]))')).toContainEqual(['', 6]);
  });
});

describe('entries that differ only in an empty value are one', () => {
  const withIt = entry(1, { x: '', kept: 'v' }, 'same');
  const without = entry(1, { kept: 'v' }, 'same');
  const another = entry(2, { kept: 'v' }, 'another');
  // [name, pushes]
  test.each<[string, DatedEntry[][]]>([
    ['in two chunks', [[withIt, another], [without]]],
    ['in two chunks, the other way round', [[without], [another, withIt]]],
    ['in one chunk', [[withIt, without, another]]],
    ['in one chunk of several', [[withIt, without], [another]]],
    [
      'in one chunk and in another',
      [
        [withIt, without],
        [another, without],
      ],
    ],
  ])('%s', async (_, pushes) => {
    const store = await storeOf(...pushes);
    const lines = (await entriesOf(store, '{app="a"}')).map(([, line]) => line);
    expect(lines).toEqual(['same', 'another']);
    for (const query of [
      'count_over_time({app="a"}[1d])',
      'sum(count_over_time({app="a"}[1d]))',
      'count_over_time({app="a"} |~ "a" [1d])',
      'sum by (x) (count_over_time({app="a"}[1d]))',
    ]) {
      expect((await valuesOf(store, query)).map(([, value]) => value)).toEqual([2]);
    }
  });
});

const arbitraryEntry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b') }),
  day: fc.constant(DAY),
  time: fc.nat({ max: 3 }).map(minute => minute * NS_OF_MINUTE),
  line: fc.constantFrom('', 'x', '{"x":"y"}', 'x=y'),
  metadata: fc.dictionary(fc.constantFrom('x', 'y', 'detected_level'), fc.constantFrom('', '1', '2')),
});

function plain(one: DatedEntry): DatedEntry {
  const metadata = Object.fromEntries(Object.entries(one.metadata).filter(([, value]) => value !== ''));
  return { ...one, metadata };
}

test('any history with empty values returns the same results as without them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(arbitraryEntry, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      async pushes => {
        const legacy = await storeOf(...pushes);
        const store = await storeOf(...pushes.map(push => push.map(plain)));
        const sorted = (list: unknown[]) => list.map(one => JSON.stringify(one)).sort();
        for (const query of ['{app=~".+"}', '{app=~".+"} | json', '{app=~".+"} | logfmt | x!=""']) {
          expect(sorted(await entriesOf(legacy, query))).toEqual(sorted(await entriesOf(store, query)));
        }
        for (const query of [
          'count_over_time({app=~".+"}[1m])',
          'sum by (x) (count_over_time({app="a"}[1m]))',
          'sum by (detected_level) (bytes_over_time({app=~".+"}[2m]))',
          'sum by (app) (rate({app=~".+"} | y="" [1d]))',
        ]) {
          expect(sorted(await valuesOf(legacy, query))).toEqual(sorted(await valuesOf(store, query)));
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('merging chunks with empty values creates chunks without them', async () => {
  const day = (one: DatedEntry): PlainEntry => ({ ...one });
  const sets = [[...rows, entry(1, { kept: 'v' })], many].map(set => set.map(day));
  const { entries, summary } = await merge(await inputsOf(sets));
  expect(entries.filter(({ metadata }) => Object.values(metadata).includes(''))).toEqual([]);
  expect(summary).toMatchObject({ rowsIn: rows.length + 1 + many.length, duplicates: 1 });
  const again = await merge([inputOf(await objectOf(entries, chunkId(1)))]);
  expect(again.footers[0].metadataBytes).toBe(
    entries.reduce((sum, { metadata }) => sum + Object.entries(metadata).flat().join('').length, 0),
  );
});
