/**
 * Parses query text to a syntax tree. The work is bounded for every text: the size is limited, the parser
 * uses an explicit stack, and the tree's depth is checked before any walk.
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
 * Parses a query and returns the deeply frozen tree. Throws a ParseError with the reference's text if the
 * text is not a valid query, or if its meaning is refused while parsing. Errors that only building a pipeline
 * detects are not found. They occur in templates, ip filters, json expressions, and regular expressions of
 * line filters.
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
 * Parses a log query whose selector may accept every stream, for delete requests. Throws a ParseError if the
 * text is not a query, and a BadRequestError if it is a metric query.
 */
export function parseLogQuery(text: string): LogExpr {
  const expr = parse(text, new Map());
  if (expr.kind !== 'log') throw new BadRequestError('only log queries are supported');
  return expr;
}

interface SelectorOptions {
  /** Accepts selectors whose matchers all accept the empty string, such as `{}`. */
  readonly allowEmpty?: boolean;
}

/**
 * Returns the matchers of a plain selector. Throws a ParseError if the text is not a query. Throws a
 * BadRequestError `only label matchers are supported` if it is more than a selector.
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
