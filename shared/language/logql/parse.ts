/**
 * Query text to syntax tree. Bounded for every text: the size is limited, the parser keeps its own stack, and the
 * tree's depth is checked before anything walks it.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import type { Expr, LogExpr, Matcher } from './ast.ts';
import { type Actions, bindActions, runAutomaton } from './automaton.ts';
import { ParseError } from './errors.ts';
import { freezeTree } from './freeze.ts';
import { LOG_ACTIONS } from './log-actions.ts';
import { METRIC_ACTIONS, type Problems } from './metric-actions.ts';
import { MAX_QUERY_BYTES } from './query-limits.ts';
import { validateExpr, validateMatchers } from './validate.ts';

const ACTIONS = bindActions<Problems>({ ...(LOG_ACTIONS as Actions<Problems>), ...METRIC_ACTIONS });

/**
 * The deeply frozen tree of a query. Throws a ParseError with the reference's text where the text is no query or
 * its meaning is refused while parsing. What only the building of a pipeline refuses (templates, ip filters, json
 * expressions, regular expressions of line filters) passes here.
 */
export function parseQuery(text: string): Expr {
  const problems: Problems = new Map();
  const expr = parse(text, problems);
  validateExpr(expr, problems);
  return expr;
}

function parse(text: string, problems: Problems): Expr {
  // A UTF-16 unit is at most three bytes, so short texts need no count.
  const bytes = text.length * 3 < MAX_QUERY_BYTES ? 0 : Buffer.byteLength(text);
  if (bytes >= MAX_QUERY_BYTES) {
    throw new ParseError(`input size too long (${bytes} > ${MAX_QUERY_BYTES})`);
  }
  return freezeTree(runAutomaton(text, ACTIONS, problems) as Expr);
}

/**
 * The deeply frozen tree of a log query whose selector may accept every stream, as delete requests take it. Throws a
 * ParseError where the text is no query, and a BadRequestError where it is a metric query.
 */
export function parseLogQuery(text: string): LogExpr {
  const expr = parse(text, new Map());
  if (expr.kind !== 'log') throw new BadRequestError('only log queries are supported');
  return expr;
}

export interface SelectorOptions {
  /** Accept selectors of which no matcher refuses the empty string, such as `{}`. */
  readonly allowEmpty?: boolean;
}

/**
 * Matchers of a plain selector. Throws a ParseError where the text is no query, and a BadRequestError
 * `only label matchers are supported` where it is more than a selector.
 */
export function parseSelector(
  text: string,
  { allowEmpty = false }: SelectorOptions = {},
): readonly Matcher[] {
  const problems: Problems = new Map();
  const expr = parse(text, problems);
  if (!allowEmpty) validateExpr(expr, problems);
  if (expr.kind !== 'log' || expr.stages.length > 0) {
    throw new BadRequestError('only label matchers are supported');
  }
  if (!allowEmpty) validateMatchers(expr.selector);
  return expr.selector;
}
