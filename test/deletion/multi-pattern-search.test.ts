import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MultiPatternSearch } from '../../shared/upkeep/deletion/multi-pattern-search.ts';

function hitsOf(set: MultiPatternSearch, bytes: Buffer, from: number, to: number): string[] {
  const found = set.search(bytes, from, to);
  const hits = Array.from({ length: found }, (_, i) => `${set.positions[i]} ${set.needlesAt[i]}`);
  return [...new Set(hits)].sort();
}

function naive(needles: readonly Buffer[], bytes: Buffer, from: number, to: number): string[] {
  const hits: string[] = [];
  for (let at = from; at < to; at++) {
    needles.forEach((needle, i) => {
      const end = at + needle.length;
      if (end <= to && bytes.subarray(at, end).equals(needle)) hits.push(`${at} ${i}`);
    });
  }
  return hits.sort();
}

/** Few letters: needles are in the text often, in each other, and overlap. */
const text = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(0, 97, 98, 255), { minLength, maxLength }).map(bytes => Buffer.from(bytes));
const needles = fc
  .array(fc.oneof(text(1, 5), text(4, 12), text(8, 40)), { minLength: 1, maxLength: 12 })
  .map(list => [...new Map(list.map(one => [one.toString('latin1'), one])).values()]);

test('finds the same matches as a comparison at every position', () => {
  fc.assert(
    fc.property(needles, text(0, 200), fc.nat(20), fc.nat(20), (list, filler, skip, rest) => {
      // The list is added as text, so that long needles occur, too.
      const bytes = Buffer.concat([filler, ...list, filler, ...list.toReversed()]);
      const from = Math.min(skip, bytes.length);
      const to = Math.max(from, bytes.length - rest);
      expect(hitsOf(new MultiPatternSearch(list), bytes, from, to)).toEqual(naive(list, bytes, from, to));
    }),
    { numRuns: 500 },
  );
});

test('finds each of thousands', () => {
  const list = Array.from({ length: 5000 }, (_, i) => Buffer.from(`user-${i * 7}`));
  const bytes = Buffer.from('x user-7 user-70 user-34993 user-34994 user-');
  // user-7 is in user-70, user-34 is none, user-349 is none.
  const found = hitsOf(new MultiPatternSearch(list), bytes, 0, bytes.length);
  expect(found).toEqual(naive(list, bytes, 0, bytes.length));
  expect(found).toContain(`${bytes.indexOf('user-34993')} 4999`);
});

test('a set without needles finds nothing, an empty needle is refused', () => {
  expect(new MultiPatternSearch([]).search(Buffer.from('abc'), 0, 3)).toBe(0);
  expect(() => new MultiPatternSearch([Buffer.alloc(0)])).toThrow(RangeError);
});
