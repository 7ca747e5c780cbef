/**
 * Semantic checks of metric expressions (docs/dev/logql-semantics.md#checks-after-parsing). Each function returns the error message or
 * undefined.
 */
import { MAX_INT64 } from '../../base/model/int64.ts';
import type {
  BinaryOp,
  Expr,
  RangeAggregationExpr,
  RangeOp,
  VectorAggregationExpr,
  VectorOp,
} from './ast.ts';
import { formatFixed } from './format-number.ts';

interface RangeRule {
  readonly unwrap: 'required' | 'allowed' | 'forbidden';
  readonly grouping: boolean;
}

const COUNTING: RangeRule = { unwrap: 'forbidden', grouping: false };
const EITHER: RangeRule = { unwrap: 'allowed', grouping: false };
const UNWRAPPED: RangeRule = { unwrap: 'required', grouping: false };
const GROUPED: RangeRule = { unwrap: 'required', grouping: true };

const RANGE_RULES: Readonly<Record<RangeOp, RangeRule>> = {
  count_over_time: COUNTING,
  bytes_over_time: COUNTING,
  bytes_rate: COUNTING,
  rate: EITHER,
  absent_over_time: EITHER,
  sum_over_time: UNWRAPPED,
  rate_counter: UNWRAPPED,
  avg_over_time: GROUPED,
  min_over_time: GROUPED,
  max_over_time: GROUPED,
  stddev_over_time: GROUPED,
  stdvar_over_time: GROUPED,
  quantile_over_time: GROUPED,
  first_over_time: GROUPED,
  last_over_time: GROUPED,
};

/** @param parameterProblem Go's message if the parameter's text is not a number */
export function rangeProblem(
  { op, range, grouping }: RangeAggregationExpr,
  parameterText: string | undefined,
  parameterProblem: string | undefined,
): string | undefined {
  const rule = RANGE_RULES[op];
  if (op === 'quantile_over_time') {
    if (parameterText === undefined) return `parameter required for operation ${op}`;
    if (parameterProblem !== undefined) return `invalid parameter for operation ${op}: ${parameterProblem}`;
  } else if (parameterText !== undefined)
    return `parameter ${parameterText} not supported for operation ${op}`;
  if (grouping !== undefined && !rule.grouping) return `grouping not allowed for ${op} aggregation`;
  const unwrapped = range.unwrap !== undefined;
  if (unwrapped && rule.unwrap === 'forbidden') return `invalid aggregation ${op} with unwrap`;
  if (!unwrapped && rule.unwrap === 'required') return `invalid aggregation ${op} without unwrap`;
  return undefined;
}

const COUNTED = new Set<VectorOp>(['topk', 'bottomk', 'approx_topk']);
/** Syntax of Go's Atoi over a NUMBER token: the sign is not part of the token. */
const INTEGER = /^[0-9]+$/;

export function vectorProblem(
  { op, grouping }: VectorAggregationExpr,
  parameterText: string | undefined,
): string | undefined {
  if (COUNTED.has(op)) {
    if (parameterText === undefined) return `parameter required for operation ${op}`;
    if (!INTEGER.test(parameterText) || parameterText.length > 1000 || BigInt(parameterText) > MAX_INT64) {
      return `invalid parameter ${op}(${parameterText},`;
    }
    if (BigInt(parameterText) === 0n)
      return `invalid parameter (must be greater than 0) ${op}(${parameterText}`;
  } else if (parameterText !== undefined)
    return `unsupported parameter for operation ${op}(${parameterText},`;
  if (grouping === undefined) return undefined;
  if (op === 'approx_topk') return 'grouping not allowed for approx_topk aggregation';
  if ((op === 'sort' || op === 'sort_desc') && grouping.labels.length > 0) {
    return "sort and sort_desc doesn't allow grouping by ";
  }
  return undefined;
}

const SET_OPS = new Set<BinaryOp>(['and', 'or', 'unless']);

export function binaryProblem(op: BinaryOp, left: Expr, right: Expr): string | undefined {
  for (const [side, operand] of [['left', left] as const, ['right', right] as const]) {
    if (operand.kind !== 'log') continue;
    const type = operand.stages.length === 0 ? '*syntax.MatchersExpr' : '*syntax.PipelineExpr';
    return `unexpected type for ${side} leg of binary operation (${op}): ${type}`;
  }
  if (!SET_OPS.has(op)) return undefined;
  for (const [side, operand] of [['left', left] as const, ['right', right] as const]) {
    if (operand.kind !== 'literal') continue;
    return `unexpected literal for ${side} leg of logical/set binary operation (${op}): ${formatFixed(operand.value)}`;
  }
  return undefined;
}
