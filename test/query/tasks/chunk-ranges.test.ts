import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ChunkRange, chunkRanges, joinRanges } from '../../../shared/read/query/tasks/chunk-ranges.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { shareStreams } from '../../../shared/storage/catalog/stream-part.ts';

const streamPart = fc.option(fc.integer({ min: 2, max: 7 }), { nil: undefined });
const chunk = fc.record({ first: fc.nat(200), span: fc.nat(30), streamPart });
const day = fc
  .array(chunk, { minLength: 1, maxLength: 60 })
  .map(list =>
    list.map(
      ({ first, span, streamPart: part }, i) =>
        ({ id: `${i}`.padStart(32, '0'), first, last: first + span, streamPart: part }) as ChunkRecord,
    ),
  );
const meets = (one: ChunkRecord, other: ChunkRecord) =>
  one.first <= other.last &&
  other.first <= one.last &&
  shareStreams(one.streamPart ?? 1, other.streamPart ?? 1);

test('each chunk belongs to one range, together with all that overlap it in time and share streams', () => {
  fc.assert(
    fc.property(
      day,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 4 }),
      fc.record({ backward: fc.boolean(), grows: fc.boolean() }),
      (records, count, size, cut) => {
        const ranges = chunkRanges(records, { ...cut, count, maxNeighbors: Infinity })!;
        const startOf = ({ own: [{ first, last }] }: ChunkRange) => (cut.backward ? -last : first);
        expect(ranges.map(startOf)).toEqual(ranges.map(startOf).sort((a, b) => a - b));
        for (const { own } of ranges) {
          expect(new Set(own.map(one => one.streamPart)).size).toBe(1);
          for (const { first, last } of own) {
            expect(cut.backward ? -last : first).toBeGreaterThanOrEqual(startOf({ own, neighbors: [] }));
          }
        }
        for (const list of [ranges, joinRanges(ranges, size)]) {
          expect(
            list
              .flatMap(({ own }) => own)
              .map(({ id }) => id)
              .sort(),
          ).toEqual(records.map(({ id }) => id).sort());
          for (const { own, neighbors } of list) {
            for (const record of records) {
              if (own.includes(record)) expect(neighbors).not.toContain(record);
              else if (own.some(one => meets(one, record))) expect(neighbors).toContain(record);
            }
          }
        }
      },
    ),
  );
});

test('many chunks that share one time are not split into ranges', () => {
  const same = Array.from({ length: 400 }, (_, i) => ({ id: `${i}`, first: 0, last: 9 }) as ChunkRecord);
  expect(chunkRanges(same, { count: 100, maxNeighbors: 256 })).toBeUndefined();
});

test('ranges for a query that may end early grow, in its direction', () => {
  const records = Array.from(
    { length: 40 },
    (_, i) => ({ id: `${i}`.padStart(2, '0'), first: i, last: i }) as ChunkRecord,
  );
  const ranges = chunkRanges(records, { count: 4, backward: true, grows: true, maxNeighbors: 0 })!;
  expect(ranges.map(({ own }) => own.map(({ first }) => first))).toEqual([
    [39],
    [38, 37],
    [36, 35, 34, 33],
    [32, 31, 30, 29, 28, 27, 26, 25],
    [24, 23, 22, 21, 20, 19, 18, 17, 16, 15],
    [14, 13, 12, 11, 10, 9, 8, 7, 6, 5],
    [4, 3, 2, 1, 0],
  ]);
});

test('parts of the streams of one time are ranges without neighbors', () => {
  const records = Array.from(
    { length: 32 },
    (_, i) =>
      ({ id: `${i}`.padStart(2, '0'), first: i, last: i + 7, streamPart: 4 + (i % 4) }) as ChunkRecord,
  );
  const most = (list: readonly ChunkRecord[]) =>
    Math.max(...chunkRanges(list, { count: 32, maxNeighbors: 99 })!.map(({ neighbors }) => neighbors.length));
  // Each chunk meets the next one of its part.
  expect(most(records)).toBe(2);
  expect(most(records.map(record => ({ ...record, streamPart: undefined })))).toBe(14);
});
