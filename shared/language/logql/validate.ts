/** Validates a parsed query (docs/dev/logql-semantics.md#checks-after-parsing, #selectors): errors recorded while parsing, then selectors. */
import type { Expr, Matcher } from './ast.ts';
import { ParseError } from './errors.ts';
import { matchesEmpty } from './regex-checks.ts';
import { walkExpr } from './walk.ts';

const TOO_WIDE =
  'queries require at least one regexp or equality matcher that does not have an empty-compatible value. ' +
  'For instance, app=~".*" does not meet this requirement, but app=~".+" will';

/** Throws a ParseError for the first problem, outermost and leftmost first. */
export function validateExpr(expr: Expr, problems: ReadonlyMap<object, string>): void {
  walkExpr(expr, node => {
    const problem = problems.get(node);
    if (problem !== undefined) throw new ParseError(problem);
    if (node.kind === 'log') validateMatchers(node.selector);
  });
}

/** Throws a ParseError if every matcher accepts the empty string. */
export function validateMatchers(matchers: readonly Matcher[]): void {
  if (!matchers.some(matcher => !acceptsEmpty(matcher))) throw new ParseError(TOO_WIDE);
}

/** Returns whether a stream without the label matches. */
function acceptsEmpty({ op, value }: Matcher): boolean {
  switch (op) {
    case '=':
      return value === '';
    case '!=':
      return value !== '';
    case '=~':
      return matchesEmpty(value);
    case '!~':
      return !matchesEmpty(value);
  }
}
