/** Windows that grow or move scan only the instants whose chunks changed, and return the same as without a cache. */
import { expect, test } from '@jest/globals';
import { NS_OF_SECOND as S } from '../../shared/base/model/time-units.ts';
import { AnswerCache } from '../../shared/read/query/tasks/answer-cache.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { makeWorld } from './tasks/world.ts';

/** Rows of a push, one each second. */
const ROWS = 60;
const STEP_S = 15;

/** A query over some seconds of the day. */
function rangeBetween(query: string, from: number, to: number) {
  return rangeQuery(query, {
    startNs: DAY_START_NS + BigInt(from * S),
    endNs: DAY_START_NS + BigInt(to * S),
    stepNs: BigInt(STEP_S * S),
  });
}

function storeOf() {
  const world = makeWorld();
  const answers = new AnswerCache(4_000_000);
  const cached = world.plainEngine(undefined, answers);
  return {
    world,
    answers,
    /** Pushes a minute of lines. */
    pushMinute: (minute: number, word = 'usual') =>
      world.push(
        Array.from({ length: ROWS }, (_, i) => ({
          stream: { app: ['a', 'b'][i % 2] },
          day: DAY,
          time: (minute * 60 + i) * S,
          line: `n=${i * 7 + minute} v=${i / 3}s ${word}`,
          metadata: {},
        })),
      ),
    /** Pages that a query over some seconds of the day reads. Its result must be that of a store without a cache. */
    async readsOf(query: string, from: number, to: number) {
      const asked = rangeBetween(query, from, to);
      const { result, statistics } = await cached.range(asked, requester());
      expect(result).toEqual((await world.plainEngine().range(asked, requester())).result);
      return statistics.pagesRead;
    },
  };
}

/** One page for each minute, because each push is a chunk. */
const QUERIES = [
  'sum by (app) (count_over_time({app=~".+"} |= "usual" [15s]))',
  'quantile_over_time(0.95, {app=~".+"} | logfmt | unwrap duration_seconds(v) [15s]) by (app)',
  'max_over_time({app="a"} | logfmt | unwrap n [15s])',
  'absent_over_time({app="c"}[15s])',
  'topk(1, sum by (app) (rate({app=~".+"} |= "1" [15s])))',
];

test.each(QUERIES)('a window that grows reads the new chunks only: %s', async query => {
  const { pushMinute, readsOf } = storeOf();
  for (let minute = 0; minute < 6; minute++) {
    await pushMinute(minute);
    // The last window of a minute ends with its last line or after it.
    const end = minute * 60 + 60;
    const reads = await readsOf(query, 15, end);
    expect(reads).toBeLessThanOrEqual(query.includes('"c"') ? 0 : 2);
    expect(await readsOf(query, 15, end)).toBe(0);
  }
});

test('a window that moves by steps reads its ends only', async () => {
  const { pushMinute, readsOf } = storeOf();
  for (let minute = 0; minute < 20; minute++) await pushMinute(minute);
  expect(await readsOf(QUERIES[0], 15, 600)).toBe(11);
  expect(await readsOf(QUERIES[0], 30, 615)).toBe(1);
  expect(await readsOf(QUERIES[0], 120, 705)).toBe(2);
  expect(await readsOf(QUERIES[0], 15, 705)).toBe(0);
  // Instants are multiples of the step.
  expect(await readsOf(QUERIES[0], 20, 605)).toBe(0);
});

test('overlapping windows are scanned again as far as they reach', async () => {
  const { pushMinute, readsOf } = storeOf();
  for (let minute = 0; minute < 10; minute++) await pushMinute(minute);
  const query = 'count_over_time({app="a"} |= "usual" [2m])';
  expect(await readsOf(query, 120, 600)).toBe(10);
  await pushMinute(10);
  // Windows that end in the new minute begin in the ninth.
  expect(await readsOf(query, 120, 660)).toBe(3);
});

test('late lines, deletes and merges change the instants of their chunks', async () => {
  const { world, pushMinute, readsOf, answers } = storeOf();
  for (let minute = 0; minute < 6; minute++) await pushMinute(minute, minute % 2 === 0 ? 'usual' : 'rare');
  const query = QUERIES[0].replace('usual', 'n=');
  expect(await readsOf(query, 15, 360)).toBe(6);
  await pushMinute(2, 'late');
  // Windows that end from 120 to 180 s, as in a store that only has these.
  const changed = await world.plainEngine().range(rangeBetween(query, 120, 180), requester());
  expect(await readsOf(query, 15, 360)).toBe(changed.statistics.pagesRead);
  world.delete('{app="a"} |= "rare"');
  expect(await readsOf(query, 15, 360)).toBeGreaterThan(6);
  expect(await readsOf(query, 15, 360)).toBe(0);
  await world.compact();
  await readsOf(query, 15, 360);
  expect(await readsOf(query, 15, 360)).toBe(0);
  answers.clear();
  expect(await readsOf(query, 15, 360)).toBeGreaterThan(0);
});

test('cached pieces count what their scan counted', async () => {
  const { world, pushMinute, answers } = storeOf();
  for (let minute = 0; minute < 4; minute++) await pushMinute(minute);
  const cached = world.plainEngine(undefined, answers);
  const ask = async () => (await cached.range(rangeQuery(QUERIES[0]), requester())).statistics;
  const { lines, lineBytes, postFilterLines, chunksReferenced } = await ask();
  expect(lines).toBe(240);
  expect(await ask()).toMatchObject({ lines, lineBytes, postFilterLines, chunksReferenced, pagesRead: 0 });
});

test('a result of too many series is not cached', async () => {
  const world = makeWorld();
  const answers = new AnswerCache(100_000);
  await world.push(
    Array.from({ length: 500 }, (_, i) => ({
      stream: { app: 'a' },
      day: DAY,
      time: i * S,
      line: `n=${i}`,
      metadata: {},
    })),
  );
  const asked = rangeQuery('count_over_time({app="a"} | logfmt [1m])');
  for (let i = 0; i < 2; i++) await world.plainEngine(undefined, answers).range(asked, requester());
  expect(answers.figures.hits).toBe(0);
  expect(answers.heldWeight).toBe(0);
});

test('long windows over many chunks are one piece, which keeps the number of keyed chunks small', async () => {
  const world = makeWorld();
  const answers = new AnswerCache(4_000_000);
  for (let i = 0; i < 200; i++) {
    await world.push([{ stream: { app: 'a' }, day: DAY, time: i * S, line: `n=${i}`, metadata: {} }]);
  }
  const cached = world.plainEngine(undefined, answers);
  for (const [range, pieces] of [
    ['1s', 61],
    // Each of 61 windows has 200 chunks.
    ['1h', 1],
  ] as const) {
    answers.clear();
    const asked = rangeQuery(`count_over_time({app="a"} |= "n" [${range}])`, {
      startNs: DAY_START_NS + BigInt(300 * S),
      endNs: DAY_START_NS + BigInt(360 * S),
      stepNs: BigInt(S),
    });
    const before = answers.misses;
    await cached.range(asked, requester());
    expect(answers.misses - before).toBe(pieces);
  }
});
