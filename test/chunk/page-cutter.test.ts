import { expect, test } from '@jest/globals';
import { atOnce } from '../../shared/base/model/steps.ts';
import { PAGE_MAX_CELLS, PAGE_MAX_NAMES } from '../../shared/storage/chunk/format.ts';
import { cutPages } from '../../shared/storage/chunk/page-cutter.ts';
import { rowsOf } from '../support/rows.ts';

type Metadata = Record<string, string>;

/** Rows of one stream with a line of one byte. */
function rowsWith(metadata: readonly Metadata[]) {
  return rowsOf(metadata.map((of, time) => ({ stream: { app: 'a' }, time, line: 'x', metadata: of })));
}

const MIB = 1024 * 1024;
const values = Array.from({ length: 20 }, (_, i) => ({ v: String.fromCharCode(97 + i).repeat(2 * MIB) }));
const names = Array.from({ length: 20 }, (_, i) =>
  Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`n${i}_${n}`, 'v'])),
);
const PER_PAGE = Math.floor(PAGE_MAX_NAMES / 100);
/** Rows of a page with 65 names, less than by rows alone. */
const CELL_ROWS = Math.floor(PAGE_MAX_CELLS / 65);
const cells = Array.from({ length: CELL_ROWS + 10 }, (_, i) =>
  i === 0 ? Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`n${n}`, 'v'])) : { n0: 'v' },
);

test.each([
  { what: 'too many bytes of values', metadata: values, cuts: [7, 14] },
  {
    what: 'too many names',
    metadata: names,
    cuts: names.flatMap((_, i) => (i > 0 && i % PER_PAGE === 0 ? [i] : [])),
  },
  { what: 'too many cells', metadata: cells, cuts: [CELL_ROWS] },
  { what: 'no value that repeats', metadata: values.map(() => values[0]), cuts: [] },
])('cuts before $what, also if an earlier batch began the page', ({ metadata, cuts }) => {
  expect(atOnce(cutPages(rowsWith(metadata)))).toEqual(cuts);
  const open = rowsWith(metadata.slice(0, 1));
  const rest = rowsWith(metadata.slice(1));
  expect(atOnce(cutPages(rest, open))).toEqual(cuts.map(cut => cut - 1));
});
