/**
 * Divides the instants of a range aggregation into pieces that are cached separately. A dashboard whose
 * window grows or moves by a step then computes only the pieces whose chunks changed.
 *
 *     instants of the query   . . . . . . . . . . .
 *     pieces                  [.][. .][. .][. .][. .][. .]      of 2 instants, at even numbers since 1970
 *     in the cache             y   y    y    n    y    n
 *     runs                                 [. .]     [. .]      one scan each
 *
 * The value of an instant depends only on the samples in its window. So the joined pieces equal one scan of
 * all, in another order of series.
 */
import type { Labels } from '../../base/model/labels.ts';
import { labelsKey } from '../../execution/metrics/grouping.ts';
import { type MatrixSeries, type SeriesMatrix, spanOf } from '../../execution/metrics/matrix.ts';
import type { RangeSpec } from '../../execution/metrics/range-spec.ts';
import type { Steps } from '../../execution/metrics/steps.ts';
import { countSteps, instantTimesMs } from '../../execution/metrics/windows.ts';
import type { RangeOp } from '../../language/logql/ast.ts';

/** Maximum pieces of a query, which limits the keys that it computes. */
const MAX_PIECES = 64;

/** Some instants of a query. */
export interface Piece {
  /** Number of the first one in the query. */
  readonly first: number;
  /** Number of instants. */
  readonly count: number;
  /** First and last instant, Unix ns. */
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Cached values of a piece: a row of `count` cells for each series. */
export interface CutPiece {
  readonly labels: readonly Labels[];
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

/** Bytes of a series of a cut piece in addition to its cells and labels. */
export const BYTES_PER_ROW = 8;

/** Operations that add decimals. The last digits of a sum depend on the order of its terms. */
const ADDING: ReadonlySet<RangeOp> = new Set<RangeOp>([
  'sum_over_time',
  'avg_over_time',
  'stddev_over_time',
  'stdvar_over_time',
  'rate',
]);

/**
 * Returns the pieces of a query in order, at least one. Queries with the same step have pieces with the same
 * borders. An aggregation whose last digits would depend on the borders is one piece: sums of overlapping
 * windows, and rates of counters, which measure time from the first window.
 */
export function piecesOf({ op, unwrapped, startNs, endNs, stepNs, rangeNs }: RangeSpec): Piece[] {
  const instants = countSteps(startNs, endNs, stepNs);
  const isWhole = op === 'rate_counter' || (rangeNs > stepNs && unwrapped && ADDING.has(op));
  const lastOf = (first: number, count: number) => startNs + BigInt(first + count - 1) * stepNs;
  if (instants === 1 || isWhole) return [{ first: 0, count: instants, startNs, endNs: lastOf(0, instants) }];
  let width = 1;
  while (instants > width * MAX_PIECES) width *= 2;
  const pieces: Piece[] = [];
  const firstNumber = Number((startNs / stepNs) % BigInt(width));
  let first = 0;
  // The first piece ends at a border.
  for (let count = width - firstNumber; first < instants; count = width) {
    const some = Math.min(count, instants - first);
    pieces.push({
      first,
      count: some,
      startNs: startNs + BigInt(first) * stepNs,
      endNs: lastOf(first, some),
    });
    first += some;
  }
  return pieces;
}

/** Joins neighbors: one piece for each run of adjacent pieces. */
export function runsOf(pieces: readonly Piece[]): Piece[] {
  const runs: Piece[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last !== undefined && last.first + last.count === piece.first) {
      runs[runs.length - 1] = { ...last, count: last.count + piece.count, endNs: piece.endNs };
    } else runs.push(piece);
  }
  return runs;
}

/** Returns a copy of a piece that lies in the run. */
export function cutPiece(run: Piece, series: readonly MatrixSeries[], { first, count }: Piece): CutPiece {
  const from = first - run.first;
  const rows = series.filter(one => hasPointsIn(one, from, from + count));
  const values = new Float64Array(rows.length * count);
  const present = new Uint8Array(rows.length * count);
  for (let row = 0; row < rows.length; row++) {
    const one = rows[row];
    const begin = Math.max(from, one.first);
    const end = Math.min(from + count, one.first + one.values.length);
    const at = row * count + begin - from;
    values.set(one.values.subarray(begin - one.first, end - one.first), at);
    present.set(one.present.subarray(begin - one.first, end - one.first), at);
  }
  return { labels: rows.map(({ labels }) => labels), values, present };
}

function hasPointsIn({ first, present }: MatrixSeries, from: number, end: number): boolean {
  const begin = Math.max(0, from - first);
  for (let i = begin; i < end - first && i < present.length; i++) if (present[i] === 1) return true;
  return false;
}

/** Returns the series of a cut piece, which share its memory. */
export function seriesOfCut({ labels, values, present }: CutPiece, { count }: Piece): MatrixSeries[] {
  return labels.map((one, row) => {
    const begin = present.indexOf(1, row * count);
    const end = present.lastIndexOf(1, (row + 1) * count - 1) + 1;
    return {
      labels: one,
      first: begin - row * count,
      values: values.subarray(begin, end),
      present: present.subarray(begin, end),
    };
  });
}

/** Some instants and their series, with `first` relative to them. */
export interface Part {
  readonly piece: Piece;
  readonly series: readonly MatrixSeries[];
}

/** Joins parts in ascending order to the matrix of the query. */
export function* joinParts(
  { startNs, endNs, stepNs }: RangeSpec,
  parts: readonly Part[],
): Steps<SeriesMatrix> {
  const byLabels = new Map<string, MatrixSeries[]>();
  for (const { piece, series } of parts) {
    const seen = new Map<string, number>();
    for (const one of series) {
      const moved = { ...one, first: one.first + piece.first };
      let key = labelsKey(one.labels);
      // Series with equal labels stay separate.
      const times = seen.get(key) ?? 0;
      seen.set(key, times + 1);
      if (times > 0) key = `${times} ${key}`;
      const same = byLabels.get(key);
      if (same === undefined) byLabels.set(key, [moved]);
      else same.push(moved);
      yield;
    }
  }
  const joined: MatrixSeries[] = [];
  for (const same of byLabels.values()) {
    joined.push(same.length === 1 ? same[0] : joinSeries(same));
    yield;
  }
  return { timesMs: instantTimesMs(startNs, endNs, stepNs), series: joined };
}

function joinSeries(same: readonly MatrixSeries[]): MatrixSeries {
  const { first, end } = spanOf(same);
  const values = new Float64Array(end - first);
  const present = new Uint8Array(end - first);
  for (const one of same) {
    values.set(one.values, one.first - first);
    present.set(one.present, one.first - first);
  }
  return { labels: same[0].labels, first, values, present };
}
