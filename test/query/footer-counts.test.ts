/**
 * Counts from footers equal those from reading the entries; a line filter that matches all lines forces a
 * read.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_MINUTE, NS_PER_MINUTE, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { DAY, DAY_START_NS, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

/** Few times, many of them at the ends of minutes. */
const arbitraryEntry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
  day: fc.constantFrom(DAY, DAY + 1),
  time: fc
    .tuple(fc.constantFrom(0, 1, 2, 5, 1439), fc.constantFrom(0, 1, NS_OF_MINUTE / 2, NS_OF_MINUTE - 1))
    .map(([minute, ns]) => minute * NS_OF_MINUTE + ns),
  line: fc.constantFrom('', 'x', '{"size":"größer"}', '{}'),
  metadata: fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(fc.constant('detected_level'), fc.constantFrom('info', 'error')) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('trace', 'app'), fc.constantFrom('t1', 't2')) },
  ),
});

const OPS = ['count_over_time', 'rate', 'bytes_over_time', 'bytes_rate', 'absent_over_time'];
const AROUND = [
  '%',
  'sum(%)',
  'sum by (app) (%)',
  'sum by (detected_level) (%)',
  'sum by (pod, trace) (%)',
  'sum by (at) (%)',
  'sum without (pod) (%)',
  'avg(%)',
];
const SELECTORS = ['{app=~".+"}', '{app="a"}', '{pod="2"}'];
const STAGES = [
  '',
  ' | detected_level="error"',
  ' | app!="b"',
  ' | json',
  ' | drop pod',
  ' | label_format at="{{ __timestamp__ }}"',
];
const RANGES = ['1m', '3m', '1d', '90s', '15s', '61s'];

const arbitraryQuery = fc.record({
  op: fc.constantFrom(...OPS),
  around: fc.constantFrom(...AROUND),
  selector: fc.constantFrom(...SELECTORS),
  stages: fc.constantFrom(...STAGES),
  range: fc.constantFrom(...RANGES),
  offset: fc.constantFrom('', ' offset 1m', ' offset 7s'),
  stepNs: fc.constantFrom(NS_PER_MINUTE, 5n * NS_PER_MINUTE, 720n * NS_PER_MINUTE, 45_000_000_000n),
  startNs: fc.constantFrom(0n, NS_PER_MINUTE, 3n * NS_PER_MINUTE + 1n).map(ns => DAY_START_NS + ns),
  lengthNs: fc.constantFrom(NS_PER_MINUTE, 10n * NS_PER_MINUTE, 2880n * NS_PER_MINUTE),
});

/** The order of series decides the last digits of their sum. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(12)) : value;
}

test('any query after any history returns the same counts with and without footers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(arbitraryEntry, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      fc.array(arbitraryQuery, { minLength: 1, maxLength: 6 }),
      async (pushes, queries) => {
        const store = memoryEngine();
        for (const push of pushes) await store.push(push);
        for (const { op, around, selector, stages, range, offset, stepNs, startNs, lengthNs } of queries) {
          const ask = async (filter: string) => {
            const text = around.replace('%', `${op}(${selector}${filter}${stages}[${range}]${offset})`);
            const step = lengthNs / stepNs > 500n ? 720n * NS_PER_MINUTE : stepNs;
            const query = rangeQuery(text, { startNs, endNs: startNs + lengthNs, stepNs: step });
            return store.engine.range(query, requester()).then(
              ({ result }) => JSON.parse(JSON.stringify(result, rounded)),
              (error: Error) => error.message,
            );
          };
          expect(await ask('')).toEqual(await ask(' |= ""'));
        }
      },
    ),
    { numRuns: 300 },
  );
});

describe('more data than fits into memory', () => {
  test.each([
    ['minutes', 40, (i: number) => ({ detected_level: i % 2 === 0 ? 'info' : 'error' })],
    ['levels', 12, (i: number, pod: number) => ({ detected_level: `level-${(pod >> 1) * 30 + (i % 30)}` })],
  ])(
    '%s of many streams',
    async (_, pods, metadataOf) => {
      const store = memoryEngine(0);
      // Each stream is in two chunks, half of the day in each, and a chunk has two streams.
      const entriesOf = (pod: number) =>
        Array.from({ length: 1440 }, (_entry, i): DatedEntry => {
          const half = pod < pods / 2 ? 0 : 720;
          const time = (half + Math.floor(i / 2)) * NS_OF_MINUTE + 1 + (i % 2);
          const metadata = metadataOf(i, pod);
          return {
            stream: { app: 'a', pod: `${pod % (pods / 2)}` },
            day: DAY,
            time,
            line: 'x'.repeat(i % 7),
            metadata,
          };
        });
      for (let pod = 0; pod < pods; pod += 2) await store.push([...entriesOf(pod), ...entriesOf(pod + 1)]);
      const range = {
        startNs: DAY_START_NS,
        endNs: DAY_START_NS + 1440n * NS_PER_MINUTE,
        stepNs: NS_PER_MINUTE,
      };
      for (const query of ['sum(%)', '%', 'sum by (pod) (%)', 'sum by (detected_level) (%)']) {
        for (const op of ['count_over_time', 'bytes_over_time']) {
          const ask = async (filter: string) => {
            const text = query.replace('%', `${op}({app="a"}${filter}[1m])`);
            return store.engine.range(rangeQuery(text, range), requester());
          };
          const [counted, read] = [await ask(''), await ask(' |= ""')];
          expect(counted.statistics.pagesRead).toBe(0);
          expect(read.statistics.pagesRead).toBeGreaterThan(0);
          expect(JSON.stringify(counted.result)).toBe(JSON.stringify(read.result));
        }
      }
    },
    60_000,
  );
});

describe('data read', () => {
  const entries = (pod: string): DatedEntry[] =>
    Array.from({ length: 50 }, (_, i) => ({
      stream: { app: 'a', pod },
      day: DAY,
      time: i * 10_000_000_000,
      line: `line ${i}`,
      metadata: { detected_level: i % 5 === 0 ? 'error' : 'info', ...(pod === '3' ? { trace: `${i}` } : {}) },
    }));
  const pagesRead = async (pods: readonly string[], query: string) => {
    const store = memoryEngine(0);
    for (const pod of pods) await store.push(entries(pod));
    const text = { text: query, expr: parseQuery(query) };
    const { statistics } = await store.engine.range({ ...rangeQuery(query), ...text }, requester());
    return statistics.pagesRead;
  };

  test.each([1, 2, 3, 4])('all pages of a stream are read if another chunk has line %s', async shared => {
    const line = 'x'.repeat(700_000);
    const long = [1, 2, 3, 4].map((minute): DatedEntry => {
      return {
        stream: { app: 'a' },
        day: DAY,
        time: minute * NS_OF_MINUTE,
        line: `${minute} ${line}`,
        metadata: {},
      };
    });
    const store = memoryEngine(0);
    await store.push(long);
    await store.push([long[shared - 1]]);
    const query = rangeQuery('sum(count_over_time({app="a"}[1m]))');
    const { result, statistics } = await store.engine.range(query, requester());
    expect(statistics.pagesRead).toBeGreaterThan(2);
    expect(result).toMatchObject({ series: [{ values: Float64Array.of(1, 1, 1, 1) }] });
  });

  test.each([
    ['no page where streams are apart', ['1', '2'], 'sum(count_over_time({app="a"}[1m]))', 0],
    [
      'no page for levels',
      ['1', '2'],
      'sum by (detected_level) (rate({app="a"} | detected_level!="x" [5m]))',
      0,
    ],
    ['no page for bytes', ['1'], 'sum by (pod) (bytes_over_time({app="a"}[1m]))', 0],
    ['pages of a stream that two chunks share', ['1', '1', '2'], 'sum(count_over_time({app="a"}[1m]))', 6],
    ['pages whose metadata splits the series', ['1', '3'], 'count_over_time({app="a"}[1m])', 1],
    ['all pages where windows cut minutes', ['1', '2'], 'sum(count_over_time({app="a"}[90s]))', 2],
    ['all pages where lines are filtered', ['1', '2'], 'sum(count_over_time({app="a"} |= "line" [1m]))', 2],
  ] as const)('%s', async (_, pods, query, pages) => {
    expect(await pagesRead(pods, query)).toBe(pages);
  });
});

describe('windows of any length', () => {
  /** Pushes of a second of two streams, one every 5 seconds. */
  const pushed = async (from: number, metadata: Readonly<Record<string, string>>) => {
    const store = memoryEngine(0);
    for (let second = from; second < 60; second += 5) {
      const times = [0, 0.4, 0.9].map(part => Math.round((second + part) * 1e9));
      await store.push(
        ['1', '2'].flatMap(pod =>
          times.map(
            (time): DatedEntry => ({ stream: { app: 'a', pod }, day: DAY, time, line: 'abc', metadata }),
          ),
        ),
      );
    }
    return store;
  };
  const range = {
    startNs: DAY_START_NS,
    endNs: DAY_START_NS + 60n * NS_PER_SECOND,
    stepNs: 15n * NS_PER_SECOND,
  };

  test.each<[string, Readonly<Record<string, string>>, number, string, number]>([
    ['cut no page: none is read', {}, 2, 'sum by (app) (rate({app="a"}[15s]))', 0],
    ['nor for bytes', {}, 2, 'sum by (pod) (bytes_over_time({app="a"}[15s]))', 0],
    // At 0, 15, 30 and 45 seconds; windows of 12 seconds begin at 3, 18, 33 and 48.
    ['cut some: those are read', {}, 0, 'sum(count_over_time({app="a"}[15s]))', 4],
    ['at both ends', {}, 3, 'sum(count_over_time({app="a"}[12s]))', 4],
    [
      'and levels that split nothing need no page',
      { detected_level: 'info' },
      2,
      'sum by (app) (count_over_time({app="a"}[15s]))',
      0,
    ],
    [
      'but those that split series',
      { detected_level: 'info' },
      2,
      'sum by (detected_level) (count_over_time({app="a"}[15s]))',
      12,
    ],
  ])('%s', async (_, metadata, from, query, pages) => {
    const store = await pushed(from, metadata);
    const { statistics, result } = await store.engine.range(rangeQuery(query, range), requester());
    expect(statistics.pagesRead).toBe(pages);
    const lines = rangeQuery(query.replace('}[', '} |= "" ['), range);
    expect(JSON.stringify(result)).toBe(
      JSON.stringify((await store.engine.range(lines, requester())).result),
    );
  });
});
