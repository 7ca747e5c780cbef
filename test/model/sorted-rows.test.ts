/** Rows sorted by time, compared with the sort of arrays. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rowsByTime } from '../../shared/base/model/sorted-rows.ts';

const rows = fc.array(fc.record({ time: fc.nat(20), rank: fc.nat(2) }), { maxLength: 60 });
/** Rows of several streams, each sorted. */
const runs = fc
  .array(rows, { maxLength: 6 })
  .map(all => all.flatMap(run => [...run].sort((a, b) => a.time - b.time)));

/** Many rows over a long time, some of them at the same one. */
const spread = fc.array(fc.record({ time: fc.oneof(fc.nat(), fc.nat(20)), rank: fc.nat(2) }), {
  minLength: 60,
  maxLength: 200,
});

test('rows are in the order of a stable sort, for any runs', () => {
  fc.assert(
    fc.property(fc.oneof(rows, runs, spread), all => {
      const rank = (a: number, b: number) => all[a].rank - all[b].rank;
      // Longer than the rows, like memory that is used again.
      const times = Float64Array.from([...all.map(({ time }) => time), 0, 0]);
      const want = [...all.keys()].sort((a, b) => times[a] - times[b] || rank(a, b));
      expect([...rowsByTime(times, all.length, rank)]).toEqual(want);
    }),
  );
});

test('rows of which many are at one time are in that order, too', () => {
  const all = Array.from({ length: 300 }, (_, i) => ({ time: i % 3 === 0 ? 7 * i : 5, rank: i % 4 }));
  const times = Float64Array.from(all, ({ time }) => time);
  const rank = (a: number, b: number) => all[a].rank - all[b].rank;
  const want = [...all.keys()].sort((a, b) => times[a] - times[b] || rank(a, b));
  expect([...rowsByTime(times, all.length, rank)]).toEqual(want);
});
