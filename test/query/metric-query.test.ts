import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels } from '../../shared/base/model/labels.ts';
import { NS_OF_SECOND as S } from '../../shared/base/model/time-units.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { DAY, DAY_START_NS, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

const entries = fc.array(
  fc.record({
    stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
    day: fc.constant(DAY),
    time: fc.integer({ min: 0, max: 1200 }).map(seconds => seconds * S),
    line: fc
      .tuple(fc.constantFrom('ok', 'bad'), fc.integer({ min: -5, max: 50 }))
      .map(([s, n]) => `status=${s} n=${n}`),
    metadata: fc.record({ detected_level: fc.constantFrom('info', 'error') }),
  }),
  { minLength: 1, maxLength: 60 },
);

const QUERIES = [
  'sum(count_over_time({app=~".+"}[2m]))',
  'sum by (app) (rate({app=~".+"} |= "bad" [1m]))',
  'count_over_time({app="a"}[5m])',
  'sum by (detected_level) (bytes_over_time({app=~".+"}[3m]))',
  'max_over_time({app=~".+"} | logfmt | unwrap n [4m]) by (app)',
  'quantile_over_time(0.5, {app=~".+"} | logfmt | unwrap n [4m]) by (pod)',
  'first_over_time({app="b"} | logfmt | unwrap n [4m]) by (pod)',
  'stddev_over_time({app=~".+"} | logfmt | unwrap n [4m]) by (app)',
  'sum by (status) (count_over_time({app=~".+"} | logfmt [2m])) / ignoring(status) group_left sum(count_over_time({app=~".+"}[2m]))',
  'absent_over_time({app="a", pod="2"}[1m])',
];

async function matrixOf(batches: readonly (readonly DatedEntry[])[], query: string) {
  const store = memoryEngine(0);
  for (const batch of batches) if (batch.length > 0) await store.push(batch);
  const range = { endNs: DAY_START_NS + 1500n * BigInt(S), stepNs: 60n * BigInt(S) };
  const { result } = await store.engine.range(rangeQuery(query, range), requester());
  if (result.kind !== 'matrix') throw new Error(`got a ${result.kind}`);
  return result.series.map(({ labels, timesMs, values }) => ({
    labels,
    points: Array.from(timesMs, (time, i) => [time, Number(values[i].toPrecision(10))]),
  }));
}

const line = (text: string, second: number, pod = '1'): DatedEntry => ({
  stream: { app: 'a', pod },
  day: DAY,
  time: second * S,
  line: text,
  metadata: {},
});

describe('series of metric queries', () => {
  const range = { endNs: DAY_START_NS + 120n * BigInt(S), stepNs: 60n * BigInt(S) };
  const ask = async (query: string, ...lines: DatedEntry[]) => {
    const store = memoryEngine(0);
    // One push each, so that partial results merge.
    for (const one of lines) await store.push([one]);
    const { result } = await store.engine.range(rangeQuery(query, range), requester());
    if (result.kind !== 'matrix') throw new Error(`got a ${result.kind}`);
    return result.series.map(({ labels, values }) => [formatLabels(labels), ...values]);
  };

  test.each([
    'absent_over_time({app="a"} | n > 5 [1m])',
    'absent_over_time({app="a"} | logfmt | n > 5 [1m])',
    'sum(count_over_time({app="a"} | logfmt | n > 5 [1m]))',
  ])('fail for %s if a series has an error, in any order', async query => {
    const failing = { ...line('n=x', 20), metadata: { n: 'x' } };
    const sound = { ...line('n=7', 10), metadata: { n: '7' } };
    for (const lines of [
      [failing, sound],
      [sound, failing],
    ]) {
      await expect(ask(query, ...lines)).rejects.toThrow("pipeline error: 'LabelFilterErr'");
    }
  });

  test.each([
    ['max_over_time({app="a"} | logfmt --keep-empty | unwrap n [1m])', '{app="a", e="", pod="1"}'],
    ['max_over_time({app="a"} | logfmt --keep-empty | unwrap n [1m]) without (pod)', '{app="a", e=""}'],
    ['max_over_time({app="a"} | logfmt --keep-empty | unwrap n [1m]) by (e)', '{e=""}'],
    ['max without (pod) (max_over_time({app="a"} | logfmt --keep-empty | unwrap n [1m]))', '{app="a"}'],
    ['sum without (pod) (sum_over_time({app="a"} | logfmt --keep-empty | unwrap n [1m]))', '{app="a"}'],
  ])('%s: empty labels are dropped only by a vector aggregation', async (query, want) => {
    expect(await ask(query, line('n=3 e=', 10))).toEqual([[want, 3]]);
  });

  test('a filter that matches everything needs no parser', async () => {
    const query = 'sum(count_over_time({app="a"} | json | x=~".*" [1m]))';
    expect(await ask(query, line('no json', 10))).toEqual([['{}', 1]]);
    await expect(ask(query.replace('.*', '.+|'), line('no json', 10))).rejects.toThrow('JSONParserErr');
  });

  test('samples of a series with U+FFFD in its labels do not count', async () => {
    const lines = [line('a\ufffdb', 10), line('axb', 11), line('a\udcffb', 12)];
    const log = '{app="a"} | regexp "a(?P<x>.)b"';
    expect(await ask(`count_over_time(${log} [1m])`, ...lines)).toEqual([
      ['{app="a", pod="1", x="x"}', 1],
      ['{app="a", pod="1", x="\\xff"}', 1],
    ]);
    expect(await ask(`max(count_over_time(${log} [1m]))`, lines[0])).toEqual([]);
    // Series that do not have the label are not concerned.
    expect(await ask(`sum by (app) (count_over_time(${log} [1m]))`, ...lines)).toEqual([['{app="a"}', 3]]);
  });
});

describe('metric queries', () => {
  test.each(QUERIES)(
    'return one result for %s, however entries are distributed over pushes, once or twice',
    async query => {
      await fc.assert(
        fc.asyncProperty(
          entries,
          fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 60, maxLength: 60 }),
          async (all, places) => {
            // Values at one instant of one series have no order: entries of equal time would make first_over_time ambiguous.
            const byInstant = new Map(all.map(one => [`${one.stream.app}${one.stream.pod}${one.time}`, one]));
            const distinct = query.startsWith('first')
              ? [...new Map([...byInstant.values()].map(o => [o.time, o])).values()]
              : [...byInstant.values()];
            const together = await matrixOf([distinct], query);
            const spread = [0, 1, 2, 3].map(place => distinct.filter((_, i) => places[i] === place));
            expect(await matrixOf(spread, query)).toEqual(together);
            expect(
              await matrixOf([...spread, distinct.filter((_, i) => i % 2 === 0), distinct], query),
            ).toEqual(together);
          },
        ),
        { numRuns: 15 },
      );
    },
  );

  test('have instants at multiples of the step, and one instant for an instant query', async () => {
    const store = memoryEngine();
    await store.push([{ stream: { app: 'a' }, day: DAY, time: 100 * S, line: 'x', metadata: {} }]);
    const range = {
      startNs: DAY_START_NS + 95n * BigInt(S),
      endNs: DAY_START_NS + 125n * BigInt(S),
      stepNs: 60n * BigInt(S),
    };
    const { result } = await store.engine.range(
      rangeQuery('count_over_time({app="a"}[1m])', range),
      requester(),
    );
    const start = Number(DAY_START_NS / 1_000_000n);
    expect(result).toMatchObject({
      series: [{ timesMs: Float64Array.of(start + 120_000), values: Float64Array.of(1) }],
    });
    const timeNs = DAY_START_NS + 130n * BigInt(S);
    const instant = await store.engine.instant(
      { text: '', expr: parseQuery('count_over_time({app="a"}[1m])'), timeNs },
      requester(),
    );
    expect(instant.result).toMatchObject({
      kind: 'vector',
      timeMs: start + 130_000,
      samples: [{ value: 1 }],
    });
  });

  test('reject a log query as an instant query', async () => {
    const store = memoryEngine();
    const ask = store.engine.instant(
      { text: '', expr: parseQuery('{app="a"}'), timeNs: DAY_START_NS },
      requester(),
    );
    await expect(ask).rejects.toThrow('log queries are not supported as an instant query type');
  });
});
