/** Walks a syntax tree, outermost first and left to right. Iterative, so that depth does not matter. */
import type { Expr, LogExpr, Matcher } from './ast.ts';

/**
 * Returns the direct children of an expression. The child of a range aggregation is the log expression of its
 * range.
 */
function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'rangeAggregation':
      return [expr.range.log];
    case 'vectorAggregation':
    case 'labelReplace':
      return [expr.expr];
    case 'binary':
      return [expr.left, expr.right];
    default:
      return [];
  }
}

/** Calls `visit` for the expression and every nested one. */
export function walkExpr(expr: Expr, visit: (node: Expr) => void): void {
  const nodes: Expr[] = [expr];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    visit(node);
    nodes.push(...childrenOf(node).toReversed());
  }
}

/** Returns all log expressions: the query itself, or those of its range aggregations. */
export function logExprsOf(expr: Expr): LogExpr[] {
  const found: LogExpr[] = [];
  walkExpr(expr, node => {
    if (node.kind === 'log') found.push(node);
  });
  return found;
}

/** Returns the selectors of a query, from the left. */
export function selectorsOf(expr: Expr): (readonly Matcher[])[] {
  return logExprsOf(expr).map(log => log.selector);
}
