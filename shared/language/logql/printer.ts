/**
 * Formats the canonical text of a query, the reference's `String()` (docs/dev/logql-semantics.md#canonical-text; with difference
 * D6, it reads back as the same tree). Recursion is safe: the parser bounds the depth of trees.
 */
import { formatPrometheusDuration } from '../../base/model/duration.ts';
import { formatPlain } from '../../base/model/number.ts';
import { quote } from '../../base/model/quote.ts';
import type { BinaryExpr, Expr, Grouping, LogRange, RangeAggregationExpr, VectorMatching } from './ast.ts';
import { formatLog, unwrapTexts } from './format-log.ts';
import { literalText, offsetText, vectorText } from './format-values.ts';

/** Cached texts of nodes, so that the pretty printer formats each node only once. */
export type Texts = Map<Expr, string>;

export function formatExpr(expr: Expr, texts?: Texts): string {
  const known = texts?.get(expr);
  if (known !== undefined) return known;
  const text = textOf(expr, texts);
  texts?.set(expr, text);
  return text;
}

function textOf(expr: Expr, texts: Texts | undefined): string {
  switch (expr.kind) {
    case 'log':
      return formatLog(expr);
    case 'rangeAggregation':
      return rangeAggregation(expr, texts);
    case 'vectorAggregation': {
      const parameter = expr.parameter === undefined ? '' : `${formatPlain(expr.parameter)},`;
      return `${expr.op}${groupingText(expr.grouping, ',')}(${parameter}${formatExpr(expr.expr, texts)})`;
    }
    case 'binary':
      return binary(expr, texts);
    case 'literal':
      return literalText(expr.value);
    case 'vector':
      return `vector(${vectorText(expr.value)})`;
    case 'labelReplace': {
      const { destination, replacement, source, regex } = expr;
      const strings = [destination, replacement, source, regex].map(quote).join(',');
      return `label_replace(${formatExpr(expr.expr, texts)},${strings})`;
    }
  }
}

function rangeAggregation(expr: RangeAggregationExpr, texts: Texts | undefined): string {
  const parameter = expr.parameter === undefined ? '' : `${formatPlain(expr.parameter)},`;
  return `${expr.op}(${parameter}${rangeText(expr.range, texts)})${groupingText(expr.grouping, ',')}`;
}

function rangeText({ log, unwrap, rangeNs, offsetNs }: LogRange, texts: Texts | undefined): string {
  const unwrapped = unwrap === undefined ? '' : ` ${unwrapTexts(unwrap).join(' ')}`;
  return `${formatExpr(log, texts)}${unwrapped}[${formatPrometheusDuration(rangeNs)}]${offsetText(offsetNs)}`;
}

/** Returns ` by (a,b)`, or an empty text if there is no clause. */
export function groupingText(grouping: Grouping | undefined, separator: ',' | ', '): string {
  if (grouping === undefined) return '';
  return ` ${grouping.without ? 'without' : 'by'} (${grouping.labels.join(separator)})`;
}

function binary(expr: BinaryExpr, texts: Texts | undefined): string {
  const right = formatExpr(expr.right, texts);
  const { matching } = expr;
  const clause = matching === undefined ? '' : ` ${matchingText(matching, ',', right)}`;
  // The reference leaves a second space at the position of a group clause.
  const gap = matching !== undefined && matching.group === undefined ? '  ' : ' ';
  return `(${formatExpr(expr.left, texts)} ${expr.op}${expr.bool ? ' bool' : ''}${clause}${gap}${right})`;
}

/** Returns `on (a) group_left (b)`. `right` is the text that follows. */
export function matchingText(matching: VectorMatching, separator: ',' | ', ', right: string): string {
  const { on, labels, group, include } = matching;
  const text = `${on ? 'on' : 'ignoring'} (${labels.join(separator)})`;
  if (group === undefined) return text;
  // A parenthesis after a bare group clause would be read as its labels.
  const names = include.length > 0 || right.startsWith('(') ? ` (${include.join(separator)})` : '';
  return `${text} group_${group}${names}`;
}
