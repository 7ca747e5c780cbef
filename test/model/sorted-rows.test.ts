/** Rows sorted by time, compared with the sort of arrays. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rowsByTime } from '../../shared/base/model/sorted-rows.ts';

const rows = fc.array(fc.record({ time: fc.nat(20), rank: fc.nat(2) }), { maxLength: 60 });
/** Rows of several streams, each sorted. */
const runs = fc
  .array(rows, { maxLength: 6 })
  .map(all => all.flatMap(run => [...run].sort((a, b) => a.time - b.time)));

test('rows are in the order of a stable sort, for any runs', () => {
  fc.assert(
    fc.property(fc.oneof(rows, runs), all => {
      const rank = (a: number, b: number) => all[a].rank - all[b].rank;
      // Longer than the rows, like memory that is used again.
      const times = Float64Array.from([...all.map(({ time }) => time), 0, 0]);
      const want = [...all.keys()].sort((a, b) => times[a] - times[b] || rank(a, b));
      expect([...rowsByTime(times, all.length, rank)]).toEqual(want);
    }),
  );
});
