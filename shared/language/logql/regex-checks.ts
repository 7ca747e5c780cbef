/** Checks regular expressions of a query while it is parsed (docs/dev/logql-semantics.md#checks-after-parsing). */
import { messageOf } from '../../base/model/errors.ts';
import { compileRegex } from '../regex/regex.ts';
import { validateRegex } from '../regex/validate.ts';
import { ParseError } from './errors.ts';

function problemOf(pattern: string): string | undefined {
  try {
    validateRegex(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Checks the expression of a `=~` or `!~`. Throws a ParseError. */
export function checkMatcherRegex(pattern: string): void {
  const problem = problemOf(pattern);
  if (problem !== undefined) throw new ParseError(problem);
}

/**
 * Checks the expression of label_replace; the message shows it anchored. Returns undefined if it is valid.
 */
export function labelReplaceProblem(regex: string): string | undefined {
  const problem = problemOf(`^(?:${regex})$`);
  return problem === undefined ? undefined : `invalid regex in label_replace: ${problem}`;
}

/** Checks the expression of the `regexp` parser: it must name its captures, each with a different name. */
export function checkRegexpStage(pattern: string): void {
  const problem = problemOf(pattern) ?? captureProblem(pattern);
  if (problem !== undefined) throw new ParseError(`invalid regexp parser: ${problem}`);
}

function captureProblem(pattern: string): string | undefined {
  const names = captureNames(pattern);
  if (names.length === 0) return 'at least one named capture must be supplied';
  const twice = names.find((name, i) => names.indexOf(name) < i);
  return twice === undefined ? undefined : `duplicate extracted label name '${twice}'`;
}

/**
 * Parts that can hide or be a group: an escape, a quoted run, a class (its first `]` is a member), a named
 * group.
 */
const GROUP_OR_HIDDEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\(\?P?<(\w+)>/g;

/** Returns the names of the capture groups of a valid expression, in order. */
export function captureNames(pattern: string): string[] {
  return [...pattern.matchAll(GROUP_OR_HIDDEN)].map(match => match[1]).filter(name => name !== undefined);
}

/** Returns whether a matcher's anchored, valid expression matches the empty string. */
export function matchesEmpty(pattern: string): boolean {
  return compileRegex(pattern, { anchored: true, dotMatchesNewline: true }).test('');
}
