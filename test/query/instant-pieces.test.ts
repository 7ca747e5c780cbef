/** Pieces of a range aggregation: they cover its instants, have fixed borders, and join to the same matrix. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelsOf } from '../../shared/base/model/labels.ts';
import type { MatrixSeries } from '../../shared/execution/metrics/matrix.ts';
import type { RangeSpec } from '../../shared/execution/metrics/range-spec.ts';
import { atOnce } from '../../shared/execution/metrics/steps.ts';
import { instantTimesMs } from '../../shared/execution/metrics/windows.ts';
import type { RangeOp } from '../../shared/language/logql/ast.ts';
import {
  cutPiece,
  joinParts,
  type Piece,
  piecesOf,
  runsOf,
  seriesOfCut,
} from '../../shared/read/query/instant-pieces.ts';

function specOf(parts: Partial<RangeSpec> & Pick<RangeSpec, 'startNs' | 'endNs' | 'stepNs'>): RangeSpec {
  return { op: 'count_over_time', rangeNs: parts.stepNs, offsetNs: 0n, unwrapped: false, ...parts };
}

const aSpec = fc
  .record({
    start: fc.bigInt(0n, 10n ** 18n),
    step: fc.bigInt(1n, 10n ** 11n),
    steps: fc.nat(3000),
    rest: fc.nat(9),
  })
  .map(({ start, step, steps, rest }) => {
    const endNs = start + BigInt(steps) * step + (step * BigInt(rest)) / 10n;
    return specOf({ startNs: start, endNs, stepNs: step });
  });

const instantsOf = ({ startNs, endNs, stepNs }: RangeSpec) => Number((endNs - startNs) / stepNs) + 1;

test('the pieces cover each instant once, in order, and are few', () => {
  fc.assert(
    fc.property(aSpec, spec => {
      const pieces = piecesOf(spec);
      expect(pieces.length).toBeLessThanOrEqual(65);
      let next = 0;
      for (const { first, count, startNs, endNs } of pieces) {
        expect(first).toBe(next);
        expect(count).toBeGreaterThan(0);
        expect(startNs).toBe(spec.startNs + BigInt(first) * spec.stepNs);
        expect(endNs).toBe(startNs + BigInt(count - 1) * spec.stepNs);
        next += count;
      }
      expect(next).toBe(instantsOf(spec));
    }),
  );
});

test('a window that moves by steps keeps its pieces, except at its ends', () => {
  fc.assert(
    fc.property(aSpec, fc.nat(100), (spec, steps) => {
      const by = BigInt(steps) * spec.stepNs;
      const namesOf = (pieces: readonly Piece[]) => pieces.map(({ startNs, endNs }) => `${startNs} ${endNs}`);
      const before = namesOf(piecesOf(spec));
      const after = new Set(
        namesOf(piecesOf({ ...spec, startNs: spec.startNs + by, endNs: spec.endNs + by })),
      );
      const width = Math.max(...piecesOf(spec).map(({ count }) => count));
      const lost = before.filter(name => !after.has(name)).length;
      expect(lost).toBeLessThanOrEqual(Math.ceil(steps / width) + 2);
    }),
  );
});

test.each<[RangeOp, boolean, bigint, number]>([
  ['count_over_time', false, 30n, 10],
  ['rate', false, 30n, 10],
  ['rate', true, 30n, 1],
  ['rate', true, 10n, 10],
  ['sum_over_time', true, 30n, 1],
  ['sum_over_time', true, 10n, 10],
  ['avg_over_time', true, 11n, 1],
  ['stddev_over_time', true, 11n, 1],
  ['max_over_time', true, 30n, 10],
  ['quantile_over_time', true, 30n, 10],
  ['rate_counter', true, 10n, 1],
])('%s (unwrapped: %s) of %s ns each 10 ns has %i pieces', (op, unwrapped, rangeNs, pieces) => {
  const spec = specOf({ startNs: 1000n, endNs: 1095n, stepNs: 10n, op, unwrapped, rangeNs });
  expect(piecesOf(spec)).toHaveLength(pieces);
});

test('an instant query is one piece', () => {
  const spec = specOf({ startNs: 5n, endNs: 5n, stepNs: 0n });
  expect(piecesOf(spec)).toEqual([{ first: 0, count: 1, startNs: 5n, endNs: 5n }]);
});

/** Cells of a series over `instants`, undefined for no value. */
const aRow = (instants: number) =>
  fc.array(fc.option(fc.double(), { nil: undefined }), { minLength: instants, maxLength: instants });

function seriesOf(name: string, cells: readonly (number | undefined)[]): MatrixSeries | undefined {
  const first = cells.findIndex(cell => cell !== undefined);
  if (first < 0) return undefined;
  const some = cells.slice(first, cells.findLastIndex(cell => cell !== undefined) + 1);
  const present = Uint8Array.from(some, cell => (cell === undefined ? 0 : 1));
  return {
    labels: labelsOf([['name', name]]),
    first,
    values: Float64Array.from(some, cell => cell ?? 0),
    present,
  };
}

const inOrder = (series: readonly MatrixSeries[]) =>
  series
    .map(one => [JSON.stringify(one.labels), one.first, one.values, one.present] as const)
    .sort((a, b) => (a[0] < b[0] ? -1 : 1));

test('pieces that are cut from runs of a matrix, some of them not cached, join to the matrix', () => {
  const cases = fc.integer({ min: 1, max: 150 }).chain(instants =>
    fc.record({
      startNs: fc.bigInt(0n, 10n ** 15n),
      rows: fc.uniqueArray(aRow(instants), { maxLength: 4, selector: row => row.join() }),
      cached: fc.array(fc.boolean(), { minLength: 70, maxLength: 70 }),
      instants: fc.constant(instants),
    }),
  );
  fc.assert(
    fc.property(cases, ({ startNs, rows, cached, instants }) => {
      const spec = specOf({ startNs, endNs: startNs + BigInt(instants - 1) * 1000n, stepNs: 1000n });
      const names = ['a', 'b', 'b"', ''];
      const series = rows.flatMap((cells, i) => seriesOf(names[i], cells) ?? []);
      const all: Piece = { first: 0, count: instants, startNs, endNs: spec.endNs };
      const pieces = piecesOf(spec);
      const known = pieces.filter((_, i) => cached[i]);
      const scanned = runsOf(pieces.filter((_, i) => !cached[i]));
      const partOf = (piece: Piece) => ({ piece, series: seriesOfCut(cutPiece(all, series, piece), piece) });
      const parts = [...known, ...scanned].map(partOf).sort((a, b) => a.piece.first - b.piece.first);
      const joined = atOnce(joinParts(spec, parts));
      expect(joined.timesMs).toEqual(instantTimesMs(startNs, spec.endNs, 1000n));
      expect(inOrder(joined.series)).toEqual(inOrder(series));
    }),
  );
});

test('series with equal labels stay separate', () => {
  const spec = specOf({ startNs: 0n, endNs: 3n, stepNs: 1n });
  const twice = [seriesOf('a', [1, 2, undefined, 4])!, seriesOf('a', [5, undefined, 7, 8])!];
  const all: Piece = { first: 0, count: 4, startNs: 0n, endNs: 3n };
  const parts = piecesOf(spec).map(piece => ({
    piece,
    series: seriesOfCut(cutPiece(all, twice, piece), piece),
  }));
  const { series } = atOnce(joinParts(spec, parts));
  const at = (instant: number) =>
    series.flatMap(({ first, values, present }) =>
      present[instant - first] === 1 ? [values[instant - first]] : [],
    );
  expect([0, 1, 2, 3].map(instant => at(instant).toSorted())).toEqual([[1, 5], [2], [7], [4, 8]]);
});
