/** Chunks that may be merged without changing the order of equal timestamps. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareChunks } from '../../shared/storage/catalog/chunk-order.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { shareStreams } from '../../shared/storage/catalog/stream-part.ts';
import { ChunkOrder } from '../../shared/upkeep/compaction/order-runs.ts';
import { record } from '../catalog/records.ts';

/** `name` is one letter, the age; times are inclusive. */
function chunk(name: string, first: number, last: number, streamPart?: number): ChunkRecord {
  return record(name.charCodeAt(0), { first, last, streamPart });
}

const namesOf = (runs: readonly (readonly ChunkRecord[])[]) =>
  runs.map(run => run.map(({ id }) => String.fromCharCode(Number.parseInt(id, 16))).join(''));

describe('runs of chunks', () => {
  // Upper case: candidates. [name, first, last] of each chunk.
  test.each<[string, [string, number, number][], string[]]>([
    ['nothing', [], []],
    [
      'all candidates, in whatever order they are given',
      [
        ['C', 0, 9],
        ['A', 0, 9],
        ['B', 0, 9],
      ],
      ['ABC'],
    ],
    [
      'a skipped chunk with the time of a later one',
      [
        ['A', 0, 9],
        ['b', 5, 6],
        ['C', 0, 9],
      ],
      ['A', 'C'],
    ],
    [
      'a skipped chunk of other times',
      [
        ['A', 0, 9],
        ['b', 10, 19],
        ['C', 0, 9],
      ],
      ['AC'],
    ],
    [
      'a skipped chunk with the time of an earlier one alone',
      [
        ['A', 0, 9],
        ['b', 5, 6],
        ['C', 10, 19],
      ],
      ['AC'],
    ],
    [
      'times meet at one instant',
      [
        ['A', 0, 9],
        ['b', 9, 19],
        ['C', 0, 9],
      ],
      ['A', 'C'],
    ],
    [
      'a skipped chunk before all, and one behind',
      [
        ['a', 0, 9],
        ['B', 0, 9],
        ['C', 0, 9],
        ['d', 0, 9],
      ],
      ['BC'],
    ],
    [
      'a later chunk that meets a skipped one, behind one that does not',
      [
        ['A', 0, 9],
        ['b', 20, 29],
        ['C', 0, 9],
        ['D', 25, 26],
        ['E', 0, 9],
      ],
      ['AC', 'DE'],
    ],
    [
      'several skipped ones',
      [
        ['A', 0, 50],
        ['b', 20, 29],
        ['c', 10, 12],
        ['d', 28, 40],
        ['E', 13, 19],
        ['F', 41, 50],
        ['G', 30, 31],
      ],
      ['AEF', 'G'],
    ],
  ])('%s', (_name, chunks, want) => {
    const records = chunks.map(([name, first, last]) => chunk(name.toUpperCase(), first, last));
    const candidates = records.filter((_, i) => chunks[i][0] === chunks[i][0].toUpperCase());
    expect(namesOf(new ChunkOrder(records).runs(candidates))).toEqual(want);
  });

  // The same with parts of the streams: 2 has 4 and 5, and 3 has 6 and 7.
  test.each<[string, [string, number, number, number?][], string[]]>([
    [
      'a skipped chunk of another part',
      [
        ['A', 0, 9, 4],
        ['b', 0, 9, 5],
        ['C', 0, 9, 4],
      ],
      ['AC'],
    ],
    [
      'a skipped chunk of the same part',
      [
        ['A', 0, 9, 4],
        ['b', 0, 9, 4],
        ['C', 0, 9, 4],
      ],
      ['A', 'C'],
    ],
    [
      'a skipped chunk of a larger part, and one of all streams',
      [
        ['A', 0, 9, 4],
        ['b', 0, 9, 2],
        ['C', 0, 9, 4],
        ['d', 0, 9],
        ['E', 0, 9, 4],
      ],
      ['A', 'C', 'E'],
    ],
    [
      'a skipped chunk of a smaller part',
      [
        ['A', 0, 9, 3],
        ['b', 0, 9, 7],
        ['C', 0, 9, 3],
        ['D', 0, 9, 3],
      ],
      ['A', 'CD'],
    ],
    [
      'candidates of several parts',
      [
        ['A', 0, 9, 4],
        ['b', 0, 9, 6],
        ['C', 0, 9, 5],
        ['D', 0, 9, 6],
        ['E', 0, 9, 5],
      ],
      ['AC', 'DE'],
    ],
  ])('with parts: %s', (_name, chunks, want) => {
    const records = chunks.map(([name, ...rest]) => chunk(name.toUpperCase(), ...rest));
    const candidates = records.filter((_, i) => chunks[i][0] === chunks[i][0].toUpperCase());
    expect(namesOf(new ChunkOrder(records).runs(candidates))).toEqual(want);
  });

  test('orders runs by age, which is that of the oldest chunk that they came from', () => {
    const merged = record(900, { level: 1, origin: chunk('A', 0, 0).id, first: 0, last: 9 });
    const [b, c] = [chunk('B', 0, 9), chunk('C', 0, 9)];
    expect(new ChunkOrder([c, merged, b]).runs([c, merged])).toEqual([[merged], [c]]);
    expect(new ChunkOrder([c, merged, b]).runs([b, merged])).toEqual([[merged, b]]);
  });

  test('merged or cut at their ends, they leave the order of all that share time and streams', () => {
    const part = fc.option(fc.integer({ min: 2, max: 7 }), { nil: undefined });
    const day = fc.array(fc.tuple(fc.nat(12), fc.nat(4), fc.boolean(), part), { maxLength: 14 });
    fc.assert(
      fc.property(day, fc.nat(20), fc.nat(20), (list, from, length) => {
        const records = list.map(([first, more, , streamPart], i) =>
          record(i + 1, { first, last: first + more, streamPart }),
        );
        const candidates = records.filter((_, i) => list[i][2]);
        const runs = new ChunkOrder(records).runs(candidates);
        expect(runs.flat()).toEqual(candidates.toSorted(compareChunks));
        const expectSameOrder = (merged: readonly (readonly ChunkRecord[])[]) => {
          const runOf = (one: ChunkRecord) => merged.find(run => run.includes(one));
          const placed = (one: ChunkRecord) => ({ ...one, origin: (runOf(one) ?? [one])[0].origin });
          for (const a of records) {
            for (const b of records) {
              if (a === b || a.last < b.first || b.last < a.first) continue;
              if (!shareStreams(a.streamPart ?? 1, b.streamPart ?? 1)) continue;
              if (runOf(a) !== undefined && runOf(a) === runOf(b)) continue;
              expect(Math.sign(compareChunks(placed(a), placed(b)))).toBe(Math.sign(compareChunks(a, b)));
            }
          }
        };
        for (const run of runs) {
          expectSameOrder([run.slice(from % run.length).slice(0, 1 + (length % run.length))]);
        }
        expectSameOrder(runs);
      }),
      { numRuns: 500 },
    );
  });
});
