/** Terms found in templates and columns are exactly those of the lines. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { generateBatches } from '../../bench/corpus.ts';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import { TermSet } from '../../shared/base/kernels/term-set.ts';
import { hostilePage, type Page, pageOf } from './hostile.ts';
import { addTerms, type TextTerms, thinned } from './oracles/text-terms.ts';
import { columnPage, numberedPage, shapedPage, type TimedPage, timedPage } from './shaped-lines.ts';

function expectedOf({ lines, lineOffsets, rows }: Page): TextTerms {
  const into: TextTerms = { terms: new Set(), longestRun: 0 };
  for (let row = 0; row < rows; row++)
    addTerms(lines.subarray(lineOffsets[row], lineOffsets[row + 1]), true, true, into);
  return into;
}

function expectTerms(page: TimedPage): void {
  const found = splitLines(page)?.termsOfLines();
  const { terms, longestRun } = expectedOf(page);
  expect(found !== undefined).toBe(longestRun >= 4);
  if (found !== undefined) {
    const want = thinned(terms);
    expect([found.overflowed, found.thinning, Math.min(found.longestRun, 512)]).toEqual([
      false,
      want?.thinning,
      Math.min(longestRun, 512),
    ]);
    expect([...found.terms].sort()).toEqual([...(want?.kept ?? [])].sort());
  }
}

describe('terms of a split page', () => {
  test('equal those of its lines, for values of all types', () => {
    fc.assert(fc.property(columnPage, expectTerms), { numRuns: 2_000 });
  });

  test('equal those of its lines, for shaped and any bytes', () => {
    const page = fc.oneof<fc.Arbitrary<TimedPage>[]>(shapedPage, hostilePage, timedPage, numberedPage);
    fc.assert(fc.property(page, expectTerms), { numRuns: 1_000 });
  });
});

test('terms of pages of the corpus', () => {
  const set = new TermSet();
  for (const { streams } of generateBatches(2)) {
    for (const { entries } of streams) {
      const page = pageOf(entries.map(({ line }) => Buffer.from(line)));
      const found = splitLines(page)?.termsOfLines();
      set.clear();
      set.addLines(page.lines, page.lineOffsets, page.rows);
      if (set.longestRun < 4) continue;
      expect(found?.longestRun).toBe(set.longestRun);
      expect(found?.terms.toSorted()).toEqual(set.terms.toSorted());
    }
  }
});

test('a line that is too long has no terms here', () => {
  const line = Buffer.alloc(1024 * 1024 + 1, 'a1b2 ');
  expect(splitLines(pageOf([line]))?.termsOfLines()).toBeUndefined();
  expectTerms(pageOf([line.subarray(0, 200_000)]));
});
