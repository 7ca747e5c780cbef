/** A query that is fanned out to workers returns the result of a single scan. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { NS_OF_SECOND as S } from '../../../shared/base/model/time-units.ts';
import type { QueryEngine } from '../../../shared/read/query/engine.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import type { TaskSizes } from '../../../shared/read/query/tasks/plan-tasks.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import {
  CHUNK_TASKS,
  MERGED_TASKS,
  makeWorld,
  SLICED_TASKS,
  SMALL_TASKS,
  shuffledInvoker,
  TINY_TASKS,
} from './world.ts';

const entry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
  day: fc.constantFrom(DAY - 1, DAY),
  time: fc.integer({ min: 0, max: 120 }).map(tens => tens * 10 * S),
  line: fc
    .tuple(fc.constantFrom('ok', 'bad', 'x'), fc.integer({ min: -5, max: 50 }))
    .map(([s, n]) => (s === 'x' ? `n=${n} not all` : `status=${s} n=${n}`)),
  metadata: fc.dictionary(fc.constantFrom('trace', 'detected_level'), fc.constantFrom('p', 'q'), {
    maxKeys: 2,
  }),
});
const history = fc.array(fc.array(entry, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 5 });

const CHUNKS = 64;

const LOGS = [
  '{app=~".+"}',
  '{app="a"} |= "bad"',
  '{app=~".+"} | logfmt | n > 20 | line_format "{{.status}} {{.n}}"',
  '{app=~".+"} | json',
];
const METRICS = [
  'sum by (app) (count_over_time({app=~".+"} |~ "ok|bad" [3m]))',
  'count_over_time({app=~".+"}[150s])',
  'sum by (detected_level) (bytes_over_time({app=~".+"}[90s]))',
  'topk(2, sum by (n) (count_over_time({app=~".+"} | logfmt [10m])))',
  'max_over_time({app=~".+"} | logfmt | unwrap n [4m]) by (app)',
  'avg_over_time({app=~".+"} | logfmt | unwrap n [4m]) without (pod)',
  'stddev_over_time({app=~".+"} | logfmt | unwrap n [4m]) by (app)',
  'quantile_over_time(0.7, {app=~".+"} | logfmt | unwrap n [4m]) by (pod)',
  'first_over_time({app="b"} | logfmt | unwrap n [4m]) by (app)',
  'last_over_time({app=~".+"} | logfmt | unwrap n [4m])',
  'rate_counter({app=~".+"} | logfmt | unwrap n [4m]) by (app)',
  'absent_over_time({app="a", pod="2"} |= "bad" [1m])',
  'sum by (status) (rate({app=~".+"} | logfmt [2m])) / ignoring(status) group_left sum(rate({app=~".+"}[2m]))',
  'sum by (__error__) (count_over_time({app=~".+"} | json [4m]))',
  // Fails if a line has no number, in every engine.
  'sum_over_time({app=~".+"} | logfmt | unwrap status [4m])',
];

interface Answer {
  read?: object | undefined;
  readonly streams?: readonly object[];
  readonly series?: readonly object[];
  readonly failed?: string;
}

/** Result as plain data; floats are rounded to ten digits if sums may be computed in another order. */
async function answerOf(
  engine: QueryEngine,
  query: string,
  options: object,
  digits?: number,
): Promise<Answer> {
  const rounded = (value: number) => (digits === undefined ? value : Number(value.toPrecision(digits)));
  const range = { startNs: DAY_START_NS - 86_400_000_000_000n, endNs: DAY_START_NS + 1500n * BigInt(S) };
  try {
    const { result, statistics } = await engine.range(
      rangeQuery(query, { ...range, stepNs: 3600n * BigInt(S), ...options }),
      requester(),
    );
    const { lines, postFilterLines, duplicates, chunksRead } = statistics;
    const read = { lines, postFilterLines, duplicates, chunksRead };
    if (result.kind === 'streams') return { streams: result.streams, read };
    if (result.kind !== 'matrix') throw new Error(`got a ${result.kind}`);
    const series = result.series.map(({ labels, timesMs, values }) => {
      return { labels, points: Array.from(timesMs, (time, i) => [time, rounded(values[i])]) };
    });
    return { series, read };
  } catch (error) {
    // Which of several failing series is named first depends on the order of the scan.
    return { failed: (error as Error).message.split(' for series', 1)[0] };
  }
}

type History = readonly (readonly DatedEntry[])[];

async function worldOf(pushes: History, isMasked: boolean) {
  const limits = isMasked
    ? {
        ...DEFAULT_LIMITS,
        retentionStream: [
          { selector: '{app="b"}', priority: 1, periodNs: 2n * 86_400_000_000_000n - 300n * BigInt(S) },
        ],
      }
    : DEFAULT_LIMITS;
  const world = makeWorld(limits);
  for (const push of pushes) await world.push(push);
  // A repeated push: all of it is there twice.
  await world.push(pushes[0]);
  if (isMasked) {
    world.delete('{app="a"} |= "bad"');
    world.delete('{pod="1"}', {
      startNs: DAY_START_NS + 100n * BigInt(S),
      endNs: DAY_START_NS + 400n * BigInt(S),
    });
    // Picked up before any chunk was written by a merge, sealed before all: it covers none of them.
    world.delete('{app="b"}', { pickedUpMs: 1, sealedMs: 2 });
  }
  return world;
}

const isPlannedByWorkers = ({ plannedByWorkersFrom }: TaskSizes) => plannedByWorkersFrom === 0;

async function compare(pushes: History, isMasked: boolean, sizes: TaskSizes): Promise<void> {
  const world = await worldOf(pushes, isMasked);
  const plain = world.plainEngine();
  const inline = inlineInvoker({ store: world.objects, clock: world.clock });
  const one = world.engine({ invoker: sizes.mergedTasks > 1 ? shuffledInvoker(world, 1) : inline, sizes });
  const three = world.engine({ invoker: shuffledInvoker(world, 3), sizes });
  for (const query of METRICS) {
    const expected = await answerOf(plain, query, {}, 10);
    const got = await answerOf(one, query, {}, 10);
    // A process knows the hidden rows of pages that it has scanned; then footers provide their counts.
    // Workers that plan chunks also report chunks that they only planned.
    if (isMasked || isPlannedByWorkers(sizes)) got.read = expected.read;
    expect([query, got]).toEqual([query, expected]);
    // Even the last digit does not depend on the workers.
    const [ofThree, ofOne] = [await answerOf(three, query, {}), await answerOf(one, query, {})];
    if (isMasked && isPlannedByWorkers(sizes)) ofThree.read = ofOne.read;
    expect(ofThree).toEqual(ofOne);
  }
  for (const query of LOGS) {
    for (const options of [
      { limit: 1000, backward: true },
      { limit: 3, backward: true, categorize: true },
      { limit: 4, backward: false },
      { limit: 5, backward: false, intervalNs: 20n * BigInt(S) },
    ]) {
      const { read: _, ...expected } = await answerOf(plain, query, options);
      for (const engine of [one, three]) {
        const { read: __, ...got } = await answerOf(engine, query, options);
        expect([query, options, got]).toEqual([query, options, expected]);
      }
    }
  }
}

describe('a query fanned out to workers returns the result of a single scan', () => {
  test.each([
    ['all shown', false, TINY_TASKS],
    ['some deleted and expired', true, TINY_TASKS],
    ['some deleted and expired, several pages in a task', true, SMALL_TASKS],
    ['planned by workers, all shown', false, CHUNK_TASKS],
    ['planned by workers, some deleted and expired', true, CHUNK_TASKS],
    ['planned by workers in slices of the day, all shown', false, SLICED_TASKS],
    ['planned by workers in slices of the day, some deleted and expired', true, SLICED_TASKS],
    ['merged by workers, all shown', false, MERGED_TASKS],
    ['merged by workers, some deleted and expired', true, MERGED_TASKS],
  ])('%s', async (_, isMasked, sizes) => {
    await fc.assert(
      fc.asyncProperty(history, pushes => compare(pushes, isMasked, sizes)),
      { numRuns: 2 },
    );
  });

  test('a log query by chunks that workers plan ends as soon as it has enough', async () => {
    const world = makeWorld();
    const line = (i: number) => (i % 4 === 0 ? 'rare one' : 'usual');
    for (let i = 0; i < CHUNKS; i++) {
      await world.push([{ stream: { app: 'a' }, day: DAY, time: i * S, line: line(i), metadata: {} }]);
    }
    const inline = inlineInvoker({ store: world.objects, clock: world.clock });
    let tasks = 0;
    const invoker = {
      ...inline,
      invoke: (...given: Parameters<typeof inline.invoke>) => {
        tasks++;
        return inline.invoke(...given);
      },
    };
    const plain = world.plainEngine();
    const sizes = { ...CHUNK_TASKS, tasksOfDay: 3, maxTaskBytes: 200 };
    for (const [query, limit, mostTasks] of [
      // One chunk for each task.
      ['{app="a"}', 1, 8],
      // Ranges of up to 22 chunks, which are cut into parts.
      ['{app="a"} |= "rare"', 3, 30],
      ['{app="a"} |= "rare"', 1000, Infinity],
      ['{app="a"} |= "absent"', 1000, Infinity],
    ] as const) {
      for (const backward of [true, false]) {
        tasks = 0;
        const asked = rangeQuery(query, { limit, backward, endNs: DAY_START_NS + 3600n * BigInt(S) });
        const { result } = await world.engine({ invoker, sizes }).range(asked, requester());
        expect(result).toEqual((await plain.range(asked, requester())).result);
        expect(tasks).toBeGreaterThan(0);
        expect(tasks).toBeLessThanOrEqual(mostTasks);
      }
    }
  });

  test('a query over several tenants returns the result of a single scan', async () => {
    const world = makeWorld();
    const of = (app: string, line: string, time: number): DatedEntry => {
      return { stream: { app }, day: DAY, time: time * S, line, metadata: {} };
    };
    await world.push([of('a', 'one', 1), of('b', 'two', 2)], 't');
    await world.push([of('a', 'three', 3), of('a', 'one', 1)], 'u');
    const both = requester({ tenants: ['t', 'u'] });
    const engine = world.engine({ invoker: shuffledInvoker(world, 2) });
    for (const query of [
      '{app=~".+"}',
      '{app=~".+", __tenant_id__="u"}',
      'sum by (__tenant_id__) (count_over_time({app=~".+"} |= "o" [1h]))',
    ]) {
      const { result } = await engine.range(rangeQuery(query), both);
      expect(result).toEqual((await world.plainEngine().range(rangeQuery(query), both)).result);
    }
  });
});
