/** Binary operations between the series of a matrix and one number (docs/dev/logql-semantics.md#arithmetic, #comparisons). */
import type { CompareOp } from '../../language/logql/ast.ts';
import { type ArithmeticOp, arithmeticOf, comparisonOf, isComparison } from './arithmetic.ts';
import { hasPoints, type MatrixSeries, type SeriesMatrix } from './matrix.ts';
import type { Steps } from './steps.ts';

/**
 * Evaluates an operation; `scalarOnLeft` distinguishes `2 - m` from `m - 2`. A comparison without `bool`
 * returns the series' value if it holds, and drops it otherwise. With `bool`, it returns 1 or 0.
 */
export function* operateWithScalar(
  matrix: SeriesMatrix,
  op: ArithmeticOp | CompareOp,
  scalar: number,
  scalarOnLeft: boolean,
  bool: boolean,
): Steps<SeriesMatrix> {
  const { timesMs } = matrix;
  const series: MatrixSeries[] = [];
  if (!isComparison(op)) {
    const calculate = arithmeticOf(op);
    const operation = scalarOnLeft
      ? (v: number) => calculate(scalar, v)
      : (v: number) => calculate(v, scalar);
    for (const one of matrix.series) {
      series.push({ ...one, values: one.values.map(operation) });
      yield;
    }
    return { timesMs, series };
  }
  const compare = comparisonOf(op);
  const holds = scalarOnLeft ? (v: number) => compare(scalar, v) : (v: number) => compare(v, scalar);
  if (bool) {
    for (const one of matrix.series) {
      series.push({ ...one, values: one.values.map(v => (holds(v) ? 1 : 0)) });
      yield;
    }
    return { timesMs, series };
  }
  for (const one of matrix.series) {
    const present = one.present.map((is, i) => (is === 1 && holds(one.values[i]) ? 1 : 0));
    if (hasPoints(present)) series.push({ ...one, present });
    yield;
  }
  return { timesMs, series };
}
