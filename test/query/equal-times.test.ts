/**
 * Order of entries with equal timestamps in both directions, and how a limit cuts it
 * (docs/dev/decisions/0007).
 */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_SECOND as S } from '../../shared/base/model/time-units.ts';
import { DAY, DAY_START_NS, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

function entry(line: string, time = S, stream: Record<string, string> = { app: 'a' }): DatedEntry {
  return { stream, day: DAY, time, line, metadata: {} };
}

async function linesOf(store: ReturnType<typeof memoryEngine>, limit: number, backward: boolean) {
  const { result } = await store.engine.range(rangeQuery('{app=~".+"}', { limit, backward }), requester());
  if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
  return result.streams.flatMap(({ entries }) => entries.map(({ line }) => line));
}

describe('entries of one stream with equal timestamps', () => {
  const TRACE = ['Exception: boom', 'at f1', 'at f2', 'at f3'];

  test.each([
    [true, 2, ['at f3', 'at f2']],
    [true, 100, TRACE.toReversed()],
    [false, 2, ['Exception: boom', 'at f1']],
    [false, 100, TRACE],
  ])('entries of one push are in push order: backward %s, limit %d', async (backward, limit, want) => {
    const store = memoryEngine();
    await store.push(TRACE.map(line => entry(line)));
    expect(await linesOf(store, limit, backward)).toEqual(want);
  });

  test.each([
    [true, 2, ['d', 'c']],
    [true, 100, ['d', 'c', 'b', 'a']],
    [false, 3, ['a', 'b', 'c']],
    [false, 100, ['a', 'b', 'c', 'd']],
  ])('entries of four pushes are in push order: backward %s, limit %d', async (backward, limit, want) => {
    const store = memoryEngine();
    for (const line of ['a', 'b', 'c', 'd']) await store.push([entry(line)]);
    expect(await linesOf(store, limit, backward)).toEqual(want);
  });

  test.each([true, false])(
    'entries of a later push come later, regardless of other timestamps: backward %s',
    async backward => {
      const store = memoryEngine();
      await store.push([entry('before', 0), entry('a')]);
      await store.push([entry('b'), entry('after', 2 * S)]);
      await store.push([entry('before', 0), entry('c'), entry('after', 2 * S)]);
      const forward = ['before', 'a', 'b', 'c', 'after'];
      for (let limit = 1; limit <= 6; limit++) {
        const want = backward ? forward.toReversed() : forward;
        expect(await linesOf(store, limit, backward)).toEqual(want.slice(0, limit));
      }
    },
  );

  test('keep the place of the first one if one is repeated', async () => {
    const store = memoryEngine();
    await store.push([entry('a'), entry('b')]);
    await store.push([entry('b'), entry('c'), entry('a')]);
    expect(await linesOf(store, 100, false)).toEqual(['a', 'b', 'c']);
    expect(await linesOf(store, 2, true)).toEqual(['c', 'b']);
  });
});

test.each(['first_over_time', 'last_over_time', 'rate_counter'])(
  '%s over streams with one timestamp does not depend on which was pushed first',
  async op => {
    const values: number[][] = [];
    const entries = ['a', 'b', 'c'].flatMap((app, i) => [
      entry(`n=${i}`, S, { app }),
      entry(`n=${i + 3}`, 2 * S, { app }),
    ]);
    for (const order of [entries, entries.toReversed()]) {
      const store = memoryEngine();
      for (const one of order) await store.push([one]);
      const query = rangeQuery(`${op}({app=~".+"} | drop app | logfmt | unwrap n [1m])`, {
        startNs: DAY_START_NS + 60_000_000_000n,
        endNs: DAY_START_NS + 60_000_000_000n,
      });
      const { result } = await store.engine.range(query, requester());
      values.push(result.kind === 'matrix' ? [...result.series[0].values] : []);
    }
    expect(values[0]).toHaveLength(1);
    expect(values[1]).toEqual(values[0]);
  },
);

test('the last and first sample of a timestamp are those of the last and first push', async () => {
  const store = memoryEngine();
  for (const value of [3, 1, 4, 2]) await store.push([entry(`n=${value}`)]);
  const sampleOf = async (op: string) => {
    const query = rangeQuery(`${op}({app="a"} | logfmt | unwrap n [1m])`, {
      startNs: DAY_START_NS + 60_000_000_000n,
      endNs: DAY_START_NS + 60_000_000_000n,
    });
    const { result } = await store.engine.range(query, requester());
    return result.kind === 'matrix' ? [...result.series[0].values] : [];
  };
  expect(await sampleOf('last_over_time')).toEqual([2]);
  expect(await sampleOf('first_over_time')).toEqual([3]);
});
