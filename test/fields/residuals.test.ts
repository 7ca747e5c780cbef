/** Columns and residuals give the same fields as the lines, for random lines in streams with random labels. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PageRows } from '../../shared/base/model/page.ts';
import {
  FieldColumnWriter,
  type FieldColumnWriterOptions,
} from '../../shared/execution/fields/field-column-writer.ts';
import { KnownLines } from '../../shared/execution/fields/synthesized-lines.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { decodeColumn, FALLBACK_ID } from '../../shared/storage/columns/column-decoder.ts';
import type { Texts } from '../pipeline/support.ts';
import { cases } from './queries.ts';
import { expectSameSaid, pageOf } from './said.ts';
import { EVERYTHING } from './support.ts';

/** Fields of columns and residuals that were written and read back; undefined if the page is incomplete. */
function knownOf({ lines, lineOffsets, rows, times }: PageRows, options: FieldColumnWriterOptions) {
  const { columns, residuals } = new FieldColumnWriter(options).blocksOf(lines, lineOffsets, rows, { times });
  if (residuals === undefined) return undefined;
  return new KnownLines({
    columns: columns.map(({ field, bytes }) => ({ field, column: decodeColumn(bytes, rows, 'test') })),
    residuals: decodeColumn(residuals, rows, 'test'),
  });
}

const NO_COLUMNS: FieldColumnWriterOptions = { ...EVERYTHING, minRows: 1000 };
const SOME_COLUMNS: FieldColumnWriterOptions = { ...EVERYTHING, minRows: 4 };
const labels = fc.constantFrom<Texts>({ x: '1' }, { a: '1' }, { status: '1', a_b: '2' });

describe.each(cases)('$name', ({ lines }) => {
  test.each([
    ['all in columns', EVERYTHING],
    ['some in columns', SOME_COLUMNS],
    ['all in residuals', NO_COLUMNS],
  ])('%s', (_what, options) => {
    let rows = 0;
    let known = 0;
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 24 }), labels, (given, stream) => {
        const page = pageOf(given, stream);
        rows += page.rows;
        const found = knownOf(page, options);
        if (found !== undefined) known += expectSameSaid(page, found, stream);
      }),
      { numRuns: 500 },
    );
    // The property would hold with nothing known.
    expect(known).toBeGreaterThan(rows / 3);
  });
});

const LABELS = { app: 'x' };
const USUAL: FieldColumnWriterOptions = { compression: QUICK_COMPRESSION };

function pageAt(lines: readonly string[], times: readonly number[]): PageRows {
  return { ...pageOf(lines, LABELS), times: Float64Array.from(times) };
}

/** The residuals that a page gets with default settings, by row; undefined if it gets none. */
function residualsOfLines(
  lines: readonly string[],
  times: readonly number[],
): (string | false)[] | undefined {
  const { lines: bytes, lineOffsets, rows } = pageAt(lines, times);
  const { residuals } = new FieldColumnWriter(USUAL).blocksOf(bytes, lineOffsets, rows, { times });
  if (residuals === undefined) return undefined;
  const column = decodeColumn(residuals, rows, 'test');
  return Array.from(column.ids, id => id !== FALLBACK_ID && (id === 0 ? '' : column.valueAt(id - 1)));
}

const PADDING = 'x'.repeat(60);
const many = (line: (i: number) => string, rows = 1000) => Array.from({ length: rows }, (_, i) => line(i));
const seconds = many(String).map((_, i) => i * 1e9 + 1_234_567);

describe('a page of usual lines is complete', () => {
  // [what, lines, residuals of the first rows]
  test.each<[string, readonly string[], readonly string[]]>([
    ['words', many(i => `${PADDING} number ${i}`), ['', '', '']],
    ['few values', many(i => `{"level":"${i % 3}","pad":"${PADDING}"}`), ['', '', '']],
    [
      'rare fields',
      many(i => `level=${i % 3} pad=${PADDING}${i === 1 ? ' err="no route"' : ''}`),
      ['', 'err="no route"', ''],
    ],
    [
      'its own time',
      many(i => `{"ts":"2024-01-01T00:${clockOf(i)}.001Z","pad":"${PADDING}"}`),
      ['{"ts":"2024-01-01T\u00013Z"}', '{"ts":"2024-01-01T\u00013Z"}'],
    ],
    [
      'its own time, with a comma',
      many(i => `at="2024-01-01 00:${clockOf(i)},001234567" pad=${PADDING}`),
      ['at="2024-01-01 \u0001j"', 'at="2024-01-01 \u0001j"'],
    ],
    ['its own time to the second', many(i => `at=00:${clockOf(i)} pad=${PADDING}`), ['at="\u00010"']],
  ])('%s', (_what, lines, want) => {
    expect(residualsOfLines(lines, seconds)?.slice(0, want.length)).toEqual(want);
    const page = pageAt(lines, seconds);
    expect(expectSameSaid(page, knownOf(page, USUAL)!, LABELS)).toBe(lines.length);
  });

  test.each<[string, readonly string[]]>([
    ['ids', many(i => `level=info id=${Math.imul(i, 0x9e3779b1) >>> 0}x pad=${PADDING}`)],
    ['several ids', many(i => `{"id":"${i}x","to":"${PADDING}${i}"}`, 900)],
    ['the time of another', many(i => `at=01:${clockOf(i)} pad=${PADDING}`)],
    ['broken JSON here and there', many(i => (i % 100 === 0 ? '{"a":' : `pad=${PADDING}`))],
    ['few short lines', ['a=1', 'a=2']],
  ])('a page of other lines is not complete: %s', (_what, lines) => {
    expect(residualsOfLines(lines, seconds)).toBeUndefined();
  });

  test('texts that repeat need their bytes once', () => {
    const options = { ...EVERYTHING, minRows: 2000 };
    const known = (texts: number) =>
      knownOf(
        pageAt(
          many(i => `{"pad":"${PADDING}${i % texts}"}`),
          seconds,
        ),
        options,
      ) !== undefined;
    expect([known(400), known(900)]).toEqual([true, false]);
  });

  test('a line here and there may be broken', () => {
    const lines = many(i => (i % 500 === 0 ? '{"a":' : `pad=${PADDING}`));
    expect(residualsOfLines(lines, seconds)!.flatMap((rest, row) => (rest === false ? [row] : []))).toEqual([
      0, 500,
    ]);
  });
});

/** Minutes and seconds. */
function clockOf(second: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(second / 60))}:${two(second % 60)}`;
}

test('a mark in the line itself is not a mark', () => {
  const lines = many(i => `{"a":"\\u00010${i % 2}","b":"${PADDING}"}`);
  const page = pageOf(lines, { app: 'x' });
  expect(expectSameSaid(page, knownOf(page, { ...EVERYTHING, minRows: 5000 })!, { app: 'x' })).toBe(1000);
});
