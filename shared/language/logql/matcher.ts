/** Label matchers as tests: one implementation for query selectors, views of tenants and policies of ingest. */
import { type Labels, labelValue } from '../../base/model/labels.ts';
import { compileRegex } from '../regex/regex.ts';
import type { Matcher } from './ast.ts';

/** Whether one matcher accepts a value; an absent label counts as empty. Throws an Error for a broken expression. */
export function compileMatcher({ op, value }: Matcher): (text: string) => boolean {
  if (op === '=') return text => text === value;
  if (op === '!=') return text => text !== value;
  const regex = compileRegex(value, { anchored: true, dotMatchesNewline: true });
  return op === '=~' ? text => regex.test(text) : text => !regex.test(text);
}

/** Whether all matchers accept a label set. */
export function compileMatchers(matchers: readonly Matcher[]): (labels: Labels) => boolean {
  const tests = matchers.map(matcher => ({ name: matcher.name, accepts: compileMatcher(matcher) }));
  return labels => tests.every(({ name, accepts }) => accepts(labelValue(labels, name) ?? ''));
}
