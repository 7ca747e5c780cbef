/** A binary operation between the series of a matrix and one number (LogQL reference 14.1, 14.2). */
import type { CompareOp } from '../logql/ast.ts';
import { type ArithmeticOp, arithmeticOf, comparisonOf, isComparison } from './arithmetic.ts';
import { hasPoints, type MatrixSeries, type SeriesMatrix } from './matrix.ts';

/**
 * `scalarOnLeft` tells `2 - m` from `m - 2`. A comparison without `bool` keeps the series' own value where it holds
 * and drops it where not; with `bool` it is 1 or 0.
 */
export function operateWithScalar(
  matrix: SeriesMatrix,
  op: ArithmeticOp | CompareOp,
  scalar: number,
  scalarOnLeft: boolean,
  bool: boolean,
): SeriesMatrix {
  const { timesMs } = matrix;
  if (!isComparison(op)) {
    const calculate = arithmeticOf(op);
    const series = matrix.series.map(one => ({
      ...one,
      values: one.values.map(scalarOnLeft ? v => calculate(scalar, v) : v => calculate(v, scalar)),
    }));
    return { timesMs, series };
  }
  const compare = comparisonOf(op);
  const holds = scalarOnLeft ? (v: number) => compare(scalar, v) : (v: number) => compare(v, scalar);
  if (bool) {
    const series = matrix.series.map(one => ({ ...one, values: one.values.map(v => (holds(v) ? 1 : 0)) }));
    return { timesMs, series };
  }
  const series: MatrixSeries[] = [];
  for (const one of matrix.series) {
    const present = one.present.map((is, i) => (is === 1 && holds(one.values[i]) ? 1 : 0));
    if (hasPoints(present)) series.push({ ...one, present });
  }
  return { timesMs, series };
}
