/**
 * Compiles label matchers to tests. One implementation serves query selectors, tenant views and ingest
 * policies.
 */
import { type Labels, labelValue } from '../../base/model/labels.ts';
import { compileRegex } from '../regex/regex.ts';
import type { Matcher } from './ast.ts';

/**
 * Compiles one matcher. An absent label counts as an empty value. Throws an Error for an invalid expression.
 */
export function compileMatcher({ op, value }: Matcher): (text: string) => boolean {
  if (op === '=') return text => text === value;
  if (op === '!=') return text => text !== value;
  const regex = compileRegex(value, { anchored: true, dotMatchesNewline: true });
  return op === '=~' ? text => regex.test(text) : text => !regex.test(text);
}

/** Compiles a test that all matchers accept a label set. */
export function compileMatchers(matchers: readonly Matcher[]): (labels: Labels) => boolean {
  const tests = matchers.map(matcher => ({ name: matcher.name, accepts: compileMatcher(matcher) }));
  return labels => tests.every(({ name, accepts }) => accepts(labelValue(labels, name) ?? ''));
}
