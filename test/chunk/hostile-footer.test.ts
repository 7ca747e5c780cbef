/** Footers with right checksums and numbers that no writer writes. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import type { Footer, PageMeta, RunMeta } from '../../shared/storage/chunk/format.ts';
import { decodePage, footerOf } from '../../shared/storage/chunk/reader.ts';
import { withFooter } from '../support/changed-footer.ts';

const OBJECT = readFileSync(new URL('golden/v7.chunk', import.meta.url));

function withPage(change: (page: PageMeta) => Partial<PageMeta>): (footer: Footer) => Partial<Footer> {
  return ({ pages }) => ({ pages: pages.map((page, i) => (i === 0 ? { ...page, ...change(page) } : page)) });
}

const withRun = (change: (run: RunMeta) => Partial<RunMeta>) =>
  withPage(({ runs }) => ({ runs: runs.map((run, i) => (i === 0 ? { ...run, ...change(run) } : run)) }));

test('an unchanged footer is read', () => {
  expect(
    footerOf(
      withFooter(OBJECT, () => ({})),
      'x',
    ).pages.length,
  ).toBeGreaterThan(1);
});

describe('a footer is refused', () => {
  test.each<[string, (footer: Footer) => Partial<Footer>]>([
    ['if its day has no times in 64 bits', () => ({ day: 106_752 })],
    ['if its day is long ago', () => ({ day: -1e12 })],
    ['if it was created after the last date', () => ({ createdMs: 8.64e15 + 1 })],
    ['if it ends after its day', () => ({ last: NS_OF_DAY })],
    ['if a run ends after its day', withRun(() => ({ last: NS_OF_DAY }))],
    ['if a run begins after its day', withRun(() => ({ first: NS_OF_DAY, last: NS_OF_DAY }))],
    ['if a sum of times is no exact number', withRun(() => ({ last: 2 ** 53 - 1 }))],
    ['if a page has more rows than its runs', withPage(({ rows }) => ({ rows: rows + 1 }))],
    ['if a run has a stream that is not there', ({ streams }) => ({ streams: streams.slice(1) })],
  ])('%s', (_, change) => {
    expect(() => footerOf(withFooter(OBJECT, change), 'x')).toThrow(CorruptionError);
  });
});

test.each([2 ** 31, 2 ** 40, 2 ** 52])(
  'a page of %i rows is refused before memory is taken for them',
  rows => {
    const changed = withFooter(
      OBJECT,
      withPage(({ runs }) => ({
        rows,
        runs: runs.slice(0, 1).map(run => ({ ...run, rows })),
      })),
    );
    const footer = footerOf(changed, 'x');
    const [page] = footer.pages;
    const stored = changed.subarray(page.offset, page.offset + page.storedBytes);
    const readAll = () => {
      const read = decodePage(footer, page, stored, { lines: 'bytes', metadata: 'all' }, 'x');
      return [read.times, read.lineOffsets, read.lines, read.metadata.map(({ ids }) => ids)];
    };
    expect(readAll).toThrow(CorruptionError);
  },
);
