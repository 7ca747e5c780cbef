/** Regular expressions of a query, checked while it is parsed (docs/dev/logql-semantics.md#checks-after-parsing). */
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

/** The expression of a `=~` or `!~`. */
export function checkMatcherRegex(pattern: string): void {
  const problem = problemOf(pattern);
  if (problem !== undefined) throw new ParseError(problem);
}

/** The expression of label_replace: the message shows it anchored. Undefined where it is good. */
export function labelReplaceProblem(regex: string): string | undefined {
  const problem = problemOf(`^(?:${regex})$`);
  return problem === undefined ? undefined : `invalid regex in label_replace: ${problem}`;
}

/** The expression of the `regexp` parser: it must name what it captures, each name once. */
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

/** What can hide or be a group: an escape, a quoted run, a class (its first `]` is a member), a named group. */
const GROUP_OR_HIDDEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\(\?P?<(\w+)>/g;

/** Names of the capture groups of a valid expression, in order. */
export function captureNames(pattern: string): string[] {
  return [...pattern.matchAll(GROUP_OR_HIDDEN)].map(match => match[1]).filter(name => name !== undefined);
}

/** True where a matcher's anchored expression matches the empty string. The expression is valid. */
export function matchesEmpty(pattern: string): boolean {
  return compileRegex(pattern, { anchored: true, dotMatchesNewline: true }).test('');
}
