import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FilteredRows } from '../../shared/storage/columns/filtered-rows.ts';
import type { RowRange } from '../../shared/storage/columns/parsed-column-cache.ts';

/** A filter accepts the rows that its number divides. */
const accepts = (filter: string, row: number) => row % Number(filter) === 0;

test('rows are narrowed as by the filter itself, for any selections and filters before', () => {
  const selection = fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 60 });
  const steps = fc.array(fc.tuple(fc.constantFrom('1', '7', '20', '61'), selection), { maxLength: 40 });
  fc.assert(
    fc.property(steps, list => {
      const filtered = new FilteredRows();
      for (const [filter, rows] of list) {
        const sorted = Uint32Array.from(rows).sort();
        const select = (selected: Uint32Array, count: number) => {
          const kept = selected.slice(0, count).filter(row => accepts(filter, row));
          selected.set(kept);
          return kept.length;
        };
        const expected = sorted.filter(row => accepts(filter, row));
        for (let round = 0; round < 2; round++) {
          const narrowed = sorted.slice();
          const count = filtered.narrow(filter, narrowed, narrowed.length, select);
          expect([...narrowed.subarray(0, count)]).toEqual([...expected]);
        }
        // Excluded ranges have no accepted row, and those that were just tested are excluded.
        for (let row = 0; row < 60; row++) {
          const pair = [{ firstRow: row, rows: 2 }];
          if (filtered.excludes(filter, pair))
            expect([row, row + 1].some(one => accepts(filter, one))).toBe(false);
        }
        const ranges = Array.from(sorted, row => ({ firstRow: row, rows: 1 }));
        if (expected.length === 0) expect(filtered.excludes(filter, ranges)).toBe(true);
      }
    }),
  );
});

test('a search of all lines is remembered for any of them, for some filters', () => {
  const lines = Buffer.from('one two three');
  const searchFor = (text: string) => ({ find: (bytes: Buffer) => bytes.indexOf(text) });
  const ranges: RowRange[] = [{ firstRow: 3, rows: 2 }];
  const filtered = new FilteredRows();
  const excludes = (text: string) => filtered.excludesAll({ text, search: searchFor(text) }, lines);
  expect(excludes('two')).toBe(false);
  expect(filtered.excludes('two', ranges)).toBe(false);
  expect(filtered.heldBytes).toBe(0);
  expect(filtered.excludesAll({ text: 'none', search: undefined }, lines)).toBe(false);
  const absent = Array.from({ length: 100 }, (_, i) => `absent ${i}`);
  for (const text of absent) {
    expect(filtered.excludes(text, ranges)).toBe(false);
    expect(excludes(text)).toBe(true);
    expect(filtered.excludes(text, ranges)).toBe(true);
  }
  expect(absent.filter(text => filtered.excludes(text, ranges))).toEqual(absent.slice(-8));
  expect(filtered.heldBytes).toBe(64);
  const long = 'x'.repeat(1000);
  expect(excludes(long)).toBe(true);
  expect(filtered.excludes(long, ranges)).toBe(false);
});

test('a search of the lines excludes ranges without a hit, and nothing else; it is remembered', () => {
  const line = fc.constantFrom('ab', 'xaby', 'x', 'a', 'b', '');
  const rows = fc.array(line, { minLength: 1, maxLength: 40 });
  const run = fc.record({ rows: fc.integer({ min: 1, max: 5 }), isWanted: fc.boolean() });
  fc.assert(
    fc.property(rows, fc.array(run, { minLength: 1, maxLength: 20 }), (lines, runs) => {
      const lineOffsets = Uint32Array.from([
        0,
        ...lines.map((_, i) => lines.slice(0, i + 1).join('').length),
      ]);
      const ranges: RowRange[] = [];
      let firstRow = 0;
      for (const { rows: count, isWanted } of runs) {
        const left = Math.min(count, lines.length - firstRow);
        if (isWanted && left > 0) ranges.push({ firstRow, rows: left });
        firstRow += left;
      }
      let searched = 0;
      const text = Buffer.from(lines.join(''));
      const search = {
        find: (bytes: Buffer, from: number, to: number) => {
          searched++;
          return bytes.subarray(0, to).indexOf('ab', from);
        },
      };
      const filtered = new FilteredRows();
      const isExcluded = filtered.excludesBySearch({ text: 'ab', search }, ranges, text, lineOffsets);
      const wanted = ranges.flatMap(range => lines.slice(range.firstRow, range.firstRow + range.rows));
      if (wanted.some(one => one.includes('ab'))) expect(isExcluded).toBe(false);
      // Lines of one range follow each other, so a hit may be in two of them.
      if (!wanted.join('').includes('ab')) expect(isExcluded).toBe(true);
      expect(filtered.excludes('ab', ranges)).toBe(isExcluded);
      expect(searched).toBeLessThanOrEqual(ranges.length);
      expect(filtered.excludesBySearch({ text: 'b', search: undefined }, ranges, text, lineOffsets)).toBe(
        false,
      );
    }),
  );
});

/** Counts the searches for a filter that accepts the first `accepted` rows of `selection`. */
function searches(filtered: FilteredRows, filter: string, rows: Uint32Array, accepted: number): number {
  let count = 0;
  filtered.narrow(filter, rows.slice(), rows.length, () => {
    count++;
    return accepted;
  });
  return count;
}

test('a filter with few accepted rows is searched for once, up to 8 filters', () => {
  const filtered = new FilteredRows();
  const rows = Uint32Array.from({ length: 320 }, (_, i) => i);
  for (let i = 0; i < 8; i++) expect(searches(filtered, `${i}`, rows, 20)).toBe(1);
  const { heldBytes } = filtered;
  for (let i = 0; i < 8; i++) expect(searches(filtered, `${i}`, rows, 20)).toBe(0);
  // Other rows are another question.
  expect(searches(filtered, '7', rows.subarray(1), 0)).toBe(1);
  expect(searches(filtered, '0', rows, 20)).toBe(1);
  expect(filtered.heldBytes).toBeLessThanOrEqual(heldBytes);
});

test('filters with many accepted rows, many spans or a long text are not remembered', () => {
  const filtered = new FilteredRows();
  const rows = Uint32Array.from({ length: 320 }, (_, i) => i);
  const scattered = rows.map(row => 2 * row);
  for (let round = 0; round < 2; round++) {
    expect(searches(filtered, 'many', rows, 21)).toBe(1);
    expect(searches(filtered, 'spans', scattered, 0)).toBe(1);
    expect(searches(filtered, 'long'.repeat(65), rows, 0)).toBe(1);
  }
  expect(filtered.heldBytes).toBe(0);
});

test('lines are not searched again if the filter is known to accept one of the rows', () => {
  const filtered = new FilteredRows();
  const rows = Uint32Array.from({ length: 40 }, (_, row) => row);
  filtered.narrow('f', rows, 40, selection => {
    selection[0] = 20;
    return 1;
  });
  let searches = 0;
  const find = () => {
    searches++;
    return -1;
  };
  const search = { find };
  const lineOffsets = Uint32Array.from({ length: 41 }, (_, row) => row);
  const lines = Buffer.alloc(40);
  expect(filtered.excludesAll({ text: 'f', search }, lines)).toBe(false);
  const excludes = (firstRow: number) =>
    filtered.excludesBySearch({ text: 'f', search }, [{ firstRow, rows: 10 }], lines, lineOffsets);
  expect(excludes(11)).toBe(false);
  expect(excludes(20)).toBe(false);
  expect(searches).toBe(0);
  expect(excludes(10)).toBe(true);
  expect(excludes(21)).toBe(true);
  expect(searches).toBe(2);
});
