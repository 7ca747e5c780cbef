/** Samples of patterns that are made without rows (lines in memory for lines) are those that the stages make. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineSpace } from '../../shared/base/kernels/line-memory.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { TimeSlice } from '../../shared/execution/pipeline/time-slice.ts';
import { pages, RANGES, samples } from './pattern-lines.ts';
import { makePage } from './support.ts';

function inLineSpace(page: PageRows): PageRows {
  const space = lineSpace().subarray(7, 7 + page.lines.length);
  page.lines.copy(space);
  return { ...page, lines: space };
}

describe('samples without rows are those of the stages', () => {
  test.each(RANGES)('%s', query => {
    fc.assert(
      fc.property(pages, all => {
        const plain = all.map(({ entries, kept }) => ({ page: makePage(entries), kept }));
        const wanted = samples(query, plain);
        // Each page takes the line space as the one before leaves it.
        const spaced = plain.map(({ page, kept }) => ({
          kept,
          get page() {
            return inLineSpace(page);
          },
        }));
        expect(samples(query, spaced)).toEqual(wanted);
      }),
      { numRuns: 80 },
    );
  });

  test('grouping metadata distinguishes rows of one value', () => {
    const query = RANGES.find(range => range.includes('trace'))!;
    const page = makePage([{ line: 'GET /a 200' }, { line: 'GET /a 200', metadata: { trace: 't' } }]);
    const kept = [true, true];
    const wanted = samples(query, [{ page, kept }]);
    expect(new Set(wanted.map(sample => JSON.stringify(sample).slice(2))).size).toBe(2);
    expect(samples(query, [{ page: inLineSpace(page), kept }])).toEqual(wanted);
  });

  test('distinct values are left to the stages in the middle of a query', () => {
    const each = [0, 1, 2].map(page => {
      const entries = Array.from({ length: 1500 }, (_, i) => ({
        line: `GET /${page}/${i} ${i % 3 === 0 ? 200 : i}`,
      }));
      return { page: makePage(entries), kept: entries.map(() => true) };
    });
    const wanted = samples(RANGES[0], each);
    expect(wanted).toHaveLength(1503);
    const spaced = each.map(({ page, kept }) => ({
      kept,
      get page() {
        return inLineSpace(page);
      },
    }));
    expect(samples(RANGES[0], spaced)).toEqual(wanted);
  });

  test('rows that a turn leaves come with the next', () => {
    const entries = Array.from({ length: 300 }, (_, i) => ({
      line: `GET /${i % 7} ${i % 3 === 0 ? 200 : 404}`,
    }));
    const page = makePage(entries);
    const kept = entries.map(() => true);
    let now = 0;
    const timeSlice = new TimeSlice(() => (now += 30));
    const wanted = samples(RANGES[0], [{ page, kept }]);
    expect(wanted).toHaveLength(100);
    expect(samples(RANGES[0], [{ page: inLineSpace(page), kept }], timeSlice)).toEqual(wanted);
  });
});
