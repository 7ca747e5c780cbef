import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cellWidth } from '../../bin/cli/cell-text.ts';
import { timeMarks, valueAxis, valueTexts } from '../../bin/cli/chart/axis.ts';
import { barsText } from '../../bin/cli/chart/bars.ts';
import { brailleCanvas, letterCanvas } from '../../bin/cli/chart/canvas.ts';
import { chartText } from '../../bin/cli/chart/chart-text.ts';
import { shortNumber } from '../../bin/cli/chart/number-text.ts';
import type { PrintedSeries } from '../../bin/cli/range-query.ts';
import { NS_PER_MINUTE } from '../../shared/base/model/time-units.ts';

test.each([
  [0, '0'],
  [7, '7'],
  [999, '999'],
  [1000, '1k'],
  [1234, '1.23k'],
  [-56_780, '-56.8k'],
  [3.4e6, '3.4M'],
  [2e9, '2G'],
  [5.1e12, '5.1T'],
  [1e15, '1e15'],
  [0.25, '0.25'],
  [0.000_2, '2e-4'],
  [999.9, '1000'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NaN, 'NaN'],
])('%d is shown as %s', (value, want) => {
  expect(shortNumber(value)).toBe(want);
});

describe('axes', () => {
  test.each([
    [0, 362, 6, [0, 100, 200, 300, 400]],
    [3, 40, 5, [0, 10, 20, 30, 40]],
    [-5, 5, 5, [-5, -2.5, 0, 2.5, 5]],
    [1000, 1004, 5, [1000, 1001, 1002, 1003, 1004]],
    [0, 0, 4, [0, 0.5, 1]],
    [7, 7, 3, [0, 5, 10]],
    [0, 5e-324, 3, [0, 0.5, 1]],
  ])('values from %d to %d with at most %i marks', (least, most, marks, want) => {
    expect(valueAxis(least, most, marks).marks).toEqual(want);
  });

  test('contain all values between few marks, whose texts differ', () => {
    const value = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(value, value, fc.integer({ min: 2, max: 8 }), (a, b, maxMarks) => {
        const { low, high, marks } = valueAxis(Math.min(a, b), Math.max(a, b), maxMarks);
        const slack = 1e-6 * Math.max(1, high - low);
        expect(low).toBeLessThanOrEqual(Math.min(a, b) + slack);
        expect(high).toBeGreaterThanOrEqual(Math.max(a, b) - slack);
        expect(high).toBeGreaterThan(low);
        expect(marks.length).toBeLessThanOrEqual(maxMarks + 1);
        expect(new Set(valueTexts(marks)).size).toBe(marks.length);
      }),
      { numRuns: 200 },
    );
  });

  const T = Date.UTC(2026, 0, 5, 10);
  test.each([
    [60_000, 4, ['10:00:00', '10:00:30', '10:01:00']],
    [3_600_000, 5, ['10:00', '10:15', '10:30', '10:45', '11:00']],
    [86_400_000, 4, ['12:00', '01-06']],
    [10 * 86_400_000, 4, ['2026-01-08', '2026-01-15']],
  ])('times of %i ms', (span, marks, want) => {
    expect(timeMarks(T, T + span, marks).map(({ text }) => text)).toEqual(want);
  });
});

test('draws a line in braille and in letters', () => {
  const braille = brailleCanvas({ columns: 2, rows: 1 });
  braille.line({ x: 0, y: 3 }, { x: 3, y: 0 }, 0);
  expect(braille.rows()).toEqual([[{ pen: 0, text: '⡠⠊' }]]);
  const letters = letterCanvas({ columns: 3, rows: 2 }, 'ab');
  letters.line({ x: 0, y: 1 }, { x: 1, y: 0 }, 1);
  expect(letters.rows()).toEqual([
    [
      { pen: -1, text: ' ' },
      { pen: 1, text: 'b' },
      { pen: -1, text: ' ' },
    ],
    [
      { pen: 1, text: 'b' },
      { pen: -1, text: '  ' },
    ],
  ]);
});

const START = 1_767_607_200_000_000_000n; // 2026-01-05T10:00:00Z

function seriesOf(labels: Record<string, string>, values: readonly (number | undefined)[]): PrintedSeries {
  const samples = values.flatMap((value, i) =>
    value === undefined ? [] : [{ timeNs: START + BigInt(i) * NS_PER_MINUTE, value: `${value}` }],
  );
  return { labels, samples };
}

describe('a chart', () => {
  const screen = { columns: 40, rows: 12 };

  test('shows one series with a gap', () => {
    const series = [seriesOf({ app: 'shop' }, [0, 10, 20, undefined, undefined, 10, 10])];
    expect(chartText(series, { screen: { columns: 40, rows: 16 }, colors: false })).toBe(`\
20 ┤          ⢀⠎
   │         ⢠⠊
   │        ⡠⠃
   │       ⡔⠁
10 ┤     ⢀⠜                      ⠤⠤⠤⠤⠤⠤
   │    ⡠⠊
   │   ⡔⠁
   │ ⢀⠎
 0 ┤⡰⠁
   └┬───────────────────────────┬──────
    10:00                       10:05
    2026-01-05 UTC
━━ {app="shop"}  last 10, max 20
`);
  });

  test('shows several series with letters if there are no colors, the largest on top, and a legend', () => {
    const series = [seriesOf({ l: 'low' }, [1, 1, 1]), seriesOf({ l: 'high' }, [1, 5, 9])];
    const text = chartText(series, { screen, colors: false });
    expect(text).toContain('a {l="high"}  last 9, max 9\nb {l="low"}  last 1, max 1\n');
    expect(text.split('\n')[0]).toMatch(/^10 ┤ *a+$/);
    expect(text).toMatch(/ab+\n/);
    const colored = chartText(series, { screen, colors: true });
    expect(colored).toContain('\u001b[36m━━\u001b[39m {l="high"}');
    expect(colored).not.toContain('a {l=');
  });

  test('counts omitted series, and says if there is nothing to draw', () => {
    const many = Array.from({ length: 11 }, (_, i) => seriesOf({ n: `${i}` }, [i, i]));
    const text = chartText(many, { screen, colors: false });
    expect(text).toContain('a {n="10"}');
    expect(text).toMatch(/and 3 more series with smaller values\n$/);
    expect(chartText([seriesOf({}, [Number.NaN])], { screen, colors: false })).toBe('no samples to draw\n');
  });

  test('is never wider than the screen', () => {
    const values = fc.array(fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { nil: undefined }), {
      maxLength: 12,
    });
    const labels = fc.record({ label: fc.string({ unit: 'binary', maxLength: 60 }) });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(labels, values), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 40, max: 120 }),
        (parts, columns) => {
          const series = parts.map(([of, each]) => seriesOf(of, each));
          const text = chartText(series, { screen: { columns, rows: 20 }, colors: false });
          for (const line of text.split('\n')) expect(cellWidth(line)).toBeLessThanOrEqual(columns);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('draws bars, the largest first, in eighths of a cell', () => {
  const vector = [seriesOf({ a: 'x' }, [1]), seriesOf({ a: 'yy' }, [8]), seriesOf({ a: 'z' }, [0])];
  expect(barsText(vector, { screen: { columns: 24, rows: 24 }, colors: false })).toBe(
    '{a="yy"}  8  ███████████\n{a="x"}   1  █▍\n{a="z"}   0\n',
  );
});
