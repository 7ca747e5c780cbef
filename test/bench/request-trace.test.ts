/** Rounds are places in the longest chain of requests that wait for one another. */
import { describe, expect, test } from '@jest/globals';
import { type TracedRequest, totalsOf } from '../../bench/cloud/request-trace.ts';
import { roundsOf } from '../../shared/read/query/read-rounds.ts';

const read = (startMs: number, endMs: number, bytes = 1): TracedRequest => ({
  kind: 'object read',
  target: 'key',
  startMs,
  endMs,
  bytes,
});

describe('rounds of requests', () => {
  const cases: [string, TracedRequest[], number[]][] = [
    ['nothing', [], []],
    ['side by side', [read(0, 25), read(0, 25), read(5, 25)], [1, 1, 1]],
    ['one after the other', [read(0, 25), read(25, 50), read(60, 70)], [1, 2, 3]],
    [
      'a short one beside a long one',
      [read(0, 100), read(0, 10), read(10, 20), read(100, 110)],
      [1, 1, 2, 3],
    ],
    ['in any order', [read(25, 50), read(0, 25)], [2, 1]],
  ];
  test.each(cases)('%s', (_, requests, rounds) => {
    expect(roundsOf(requests)).toEqual(rounds);
  });

  test('adds up requests by kind, rounds and time', () => {
    const requests = [read(0, 25, 100), read(25, 50, 50), { ...read(0, 5), kind: 'table read' } as const];
    expect(totalsOf(requests)).toEqual({
      objectReads: 2,
      objectBytes: 150,
      tableReads: 1,
      writes: 0,
      rounds: 2,
      ms: 50,
    });
    expect(totalsOf([])).toMatchObject({ rounds: 0, ms: 0 });
  });
});
