/** Names of chunks, which order equal timestamps between pushes. */
import { describe, expect, test } from '@jest/globals';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { AscendingChunkIds, startedMsOf } from '../../shared/storage/catalog/chunk-id.ts';
import { compareChunks, oldestOrigin } from '../../shared/storage/catalog/chunk-order.ts';

const START_MS = 1_763_600_000_000;

function namesAt(...timesMs: readonly number[]) {
  let nowMs = START_MS;
  const clock = { nowNs: () => BigInt(nowMs) * 1_000_000n, nowMs: () => nowMs, sleep: async () => undefined };
  const ids = new AscendingChunkIds(clock, seededIds(1));
  return timesMs.map(ms => {
    nowMs = START_MS + ms;
    return ids.next();
  });
}

describe('ids of pushed chunks', () => {
  test.each<[string, number[], number[]]>([
    ['of one millisecond', [0, 0, 0.7, 0], [0, 0, 0, 0]],
    ['of a clock that goes on', [0, 1, 1, 500], [0, 1, 1, 500]],
    ['of a clock that was set back a little', [4000, 0, 3999, 4001], [4000, 4000, 4000, 4001]],
  ])('%s ascend', (_name, times, want) => {
    const names = namesAt(...times);
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
    expect(names.map(name => startedMsOf(name) - START_MS)).toEqual(want);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  });

  test('follow a clock that was set back far', () => {
    expect(namesAt(60_000, 0).map(name => startedMsOf(name) - START_MS)).toEqual([60_000, 0]);
  });

  test('ascend over more in a millisecond than their number counts', () => {
    const names = namesAt(...new Array<number>(70_000).fill(0));
    for (let i = 1; i < names.length; i++) if (names[i] <= names[i - 1]) expect(names[i]).toBe('later');
    expect(startedMsOf(names[69_999]) - START_MS).toBe(1);
  });

  test('IDs of two processes differ, even if everything else is equal', () => {
    expect(namesAt(0)[0].slice(0, 16)).toBe(`${START_MS.toString(16).padStart(12, '0')}0000`);
    expect(namesAt(0)[0]).toHaveLength(32);
  });
});

test('chunks are ordered by the oldest push in them, then by id', () => {
  const chunk = (id: string, origin = id) => ({ id, origin });
  const [a, b, merged, rest] = [chunk('a'), chunk('b'), chunk('m', 'a1'), chunk('n', 'a1')];
  expect([rest, b, merged, a].toSorted(compareChunks)).toEqual([a, merged, rest, b]);
  expect(compareChunks(a, chunk('a'))).toBe(0);
  expect(oldestOrigin([b, rest, merged])).toBe('a1');
});
