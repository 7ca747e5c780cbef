import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chunkRanges, joinRanges } from '../../../shared/read/query/tasks/chunk-ranges.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';

const chunk = fc.record({ first: fc.nat(200), span: fc.nat(30) });
const day = fc
  .array(chunk, { minLength: 1, maxLength: 60 })
  .map(list =>
    list.map(
      ({ first, span }, i) => ({ id: `${i}`.padStart(32, '0'), first, last: first + span }) as ChunkRecord,
    ),
  );
const meets = (one: ChunkRecord, other: ChunkRecord) => one.first <= other.last && other.first <= one.last;

test('each chunk belongs to one range, together with all ranges that overlap it in time', () => {
  fc.assert(
    fc.property(
      day,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 4 }),
      (records, count, size) => {
        const ranges = chunkRanges(records, count, Infinity)!;
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
  expect(chunkRanges(same, 100)).toBeUndefined();
});
