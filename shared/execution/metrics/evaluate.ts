/**
 * Evaluates the tree of a metric query over the matrices of its leaves. Each node is evaluated over all
 * instants before the next one (docs/dev/logql-semantics.md#absent_over_time, #instant-and-range-results, #vector-aggregations, #binary-operations).
 */

import { BadRequestError } from '../../base/model/errors.ts';
import { NO_LABELS } from '../../base/model/labels.ts';
import type {
  BinaryExpr,
  MetricExpr,
  RangeAggregationExpr,
  VectorAggregationExpr,
} from '../../language/logql/ast.ts';
import { absentLabels, absentMatrix } from './absent.ts';
import { foldLiterals, isSetOp } from './arithmetic.ts';
import { operateOnMatrices } from './binary-operation.ts';
import { replaceLabel } from './label-replace.ts';
import { constantSeries, type SeriesMatrix } from './matrix.ts';
import { hasSort } from './plan.ts';
import { rankGroups, sortSeries } from './ranking.ts';
import { constantResult, type MetricResult, matrixResult, vectorResult } from './result.ts';
import { operateWithScalar } from './scalar-operation.ts';
import { atOnce, type Steps } from './steps.ts';
import { reduceGroups } from './vector-aggregation.ts';
import { instantTimesMs } from './windows.ts';

export interface EvaluationContext {
  /**
   * Returns the values of a range aggregation at all instants, as `RangeAccumulator.finish` does. They are
   * already grouped as `leavesOf` specifies. For absent_over_time, the values are counts.
   */
  readonly leaf: (node: RangeAggregationExpr) => SeriesMatrix;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Step, or 0 for an instant query. */
  readonly stepNs: bigint;
  /** True for a vector or scalar at `startNs`, false for a matrix. */
  readonly instant: boolean;
  /** Maximum series of the result; 0 is unlimited. */
  readonly maxSeries: number;
  /** Whether to truncate the result to `maxSeries` with a warning instead of an error. */
  readonly partial?: boolean;
}

/** Number without series, or series. */
type Operand =
  | { readonly kind: 'scalar'; readonly value: number }
  | { readonly kind: 'matrix'; readonly matrix: SeriesMatrix };

/** Evaluates a query. Throws BadRequestError with the reference's message for unsupported queries. */
export function evaluateMetric(expr: MetricExpr, context: EvaluationContext): MetricResult {
  return atOnce(evaluationOf(expr, context));
}

/** Evaluates a query in steps, with the errors of `evaluateMetric`. */
export function* evaluationOf(expr: MetricExpr, context: EvaluationContext): Steps<MetricResult> {
  const timesMs = instantTimesMs(context.startNs, context.endNs, context.instant ? 0n : context.stepNs);
  const result = yield* evaluate(expr, context, timesMs);
  if (result.kind === 'scalar') {
    if (context.instant) return { kind: 'scalar', timeMs: timesMs[0], value: result.value };
    return constantResult(timesMs, result.value);
  }
  const limit = { maxSeries: context.maxSeries, partial: context.partial === true };
  if (context.instant) return vectorResult(result.matrix, hasSort(expr), limit);
  return yield* matrixResult(result.matrix, limit);
}

function* evaluate(expr: MetricExpr, context: EvaluationContext, timesMs: Float64Array): Steps<Operand> {
  switch (expr.kind) {
    case 'literal':
      return { kind: 'scalar', value: expr.value };
    case 'vector': {
      const series = [constantSeries(NO_LABELS, expr.value, timesMs.length)];
      return { kind: 'matrix', matrix: { timesMs, series } };
    }
    case 'rangeAggregation':
      return { kind: 'matrix', matrix: leafMatrix(expr, context, timesMs) };
    case 'vectorAggregation': {
      const input = yield* matrixOf(expr.expr, context, timesMs);
      return { kind: 'matrix', matrix: yield* aggregate(expr, input, context.instant) };
    }
    case 'labelReplace': {
      const input = yield* matrixOf(expr.expr, context, timesMs);
      return { kind: 'matrix', matrix: yield* replaceLabel(input, expr) };
    }
    case 'binary': {
      const left = yield* evaluate(expr.left, context, timesMs);
      return yield* operate(expr, left, yield* evaluate(expr.right, context, timesMs));
    }
  }
}

/** Returns the series of a node that must have series. */
function* matrixOf(expr: MetricExpr, context: EvaluationContext, timesMs: Float64Array): Steps<SeriesMatrix> {
  const operand = yield* evaluate(expr, context, timesMs);
  if (operand.kind === 'matrix') return operand.matrix;
  // The reference's message for a literal in place of a vector, including its trailing space.
  throw new BadRequestError(
    'unexpected expr type (*syntax.LiteralExpr) for Evaluator type (*logql.DefaultEvaluator) ',
  );
}

function leafMatrix(
  node: RangeAggregationExpr,
  context: EvaluationContext,
  timesMs: Float64Array,
): SeriesMatrix {
  const { series } = context.leaf(node);
  const matrix = { timesMs, series };
  if (node.op !== 'absent_over_time') return matrix;
  return absentMatrix(matrix, absentLabels(node.range.log.selector));
}

function* aggregate(expr: VectorAggregationExpr, input: SeriesMatrix, instant: boolean): Steps<SeriesMatrix> {
  const { op, grouping } = expr;
  const k = expr.parameter ?? 0;
  switch (op) {
    case 'topk':
      return yield* rankGroups(input, k, false, grouping);
    case 'bottomk':
      return yield* rankGroups(input, k, true, grouping);
    case 'approx_topk':
      if (!instant) throw new BadRequestError('count min sketches are only supported on instant queries');
      // approx_topk is exact: the sketch of the reference may also return an exact result, and does while
      // there are few series.
      return yield* rankGroups(input, k, false, undefined);
    case 'sort':
      return sortSeries(input, true);
    case 'sort_desc':
      return sortSeries(input, false);
    default:
      return yield* reduceGroups(input, op, grouping);
  }
}

function* operate({ op, bool, matching }: BinaryExpr, left: Operand, right: Operand): Steps<Operand> {
  if (left.kind === 'matrix' && right.kind === 'matrix') {
    const matrix = yield* operateOnMatrices(left.matrix, right.matrix, op, bool, matching);
    return { kind: 'matrix', matrix };
  }
  if (isSetOp(op)) {
    const leg = left.kind === 'scalar' ? 'left' : 'right';
    const value = left.kind === 'scalar' ? left.value : (right as { value: number }).value;
    throw new BadRequestError(
      `unexpected literal for ${leg} leg of logical/set binary operation (${op}): ${value.toFixed(6)}`,
    );
  }
  if (left.kind === 'matrix') {
    const { value } = right as { value: number };
    return { kind: 'matrix', matrix: yield* operateWithScalar(left.matrix, op, value, false, bool) };
  }
  if (right.kind === 'matrix') {
    return { kind: 'matrix', matrix: yield* operateWithScalar(right.matrix, op, left.value, true, bool) };
  }
  return { kind: 'scalar', value: foldLiterals(op, left.value, right.value) };
}
