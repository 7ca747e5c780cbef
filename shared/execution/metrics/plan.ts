/** Derives properties of a metric query before any sample is read. */
import type {
  BinaryExpr,
  Grouping,
  MetricExpr,
  RangeAggregationExpr,
  RangeOp,
} from '../../language/logql/ast.ts';

export interface Leaf {
  readonly node: RangeAggregationExpr;
  /**
   * Labels that series of this leaf must preserve; undefined means all. The source is the grouping of the
   * leaf, or of a sum around it if that does not change the result (docs/dev/logql-semantics.md#parsers-that-are-skipped). The extraction
   * applies it and therefore parses only these labels.
   */
  readonly grouping: Grouping | undefined;
}

/** Operations for which the sum over groups equals the sum of the groups. */
const ADDITIVE: ReadonlySet<RangeOp> = new Set<RangeOp>([
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
]);
const NO_GROUP_LABELS: Grouping = Object.freeze({ without: false, labels: [] });

/** Returns the range aggregations of a query, from left to right. */
export function leavesOf(expr: MetricExpr): Leaf[] {
  const leaves: Leaf[] = [];
  collect(expr, undefined, leaves);
  return leaves;
}

function collect(expr: MetricExpr, pushed: Grouping | undefined, leaves: Leaf[]): void {
  switch (expr.kind) {
    case 'rangeAggregation':
      leaves.push({ node: expr, grouping: leafGrouping(expr, pushed) });
      return;
    case 'vectorAggregation':
      collect(expr.expr, expr.op === 'sum' ? (expr.grouping ?? NO_GROUP_LABELS) : undefined, leaves);
      return;
    case 'binary':
      collect(expr.left, undefined, leaves);
      collect(expr.right, undefined, leaves);
      return;
    case 'labelReplace':
      collect(expr.expr, undefined, leaves);
      return;
    case 'literal':
    case 'vector':
      return;
  }
}

function leafGrouping(node: RangeAggregationExpr, pushed: Grouping | undefined): Grouping | undefined {
  if (node.op === 'absent_over_time') return NO_GROUP_LABELS;
  if (node.grouping !== undefined) return node.grouping;
  return ADDITIVE.has(node.op) ? pushed : undefined;
}

/**
 * Returns whether sort or sort_desc occurs anywhere: an instant vector then preserves the order of evaluation
 * (docs/dev/logql-semantics.md#instant-and-range-results).
 */
export function hasSort(expr: MetricExpr): boolean {
  switch (expr.kind) {
    case 'vectorAggregation':
      return expr.op === 'sort' || expr.op === 'sort_desc' || hasSort(expr.expr);
    case 'binary':
      return operandsOf(expr).some(hasSort);
    case 'labelReplace':
      return hasSort(expr.expr);
    default:
      return false;
  }
}

function operandsOf({ left, right }: BinaryExpr): readonly MetricExpr[] {
  return [left, right];
}
