/** Regular expressions of template functions: patterns may be computed per line, so a bounded cache keeps them. */
import { messageOf } from '../../../base/model/errors.ts';
import { compileRegex, type Regex } from '../../../language/regex/regex.ts';
import { MAX_CACHED_REGEXES, MAX_OUTPUT_LENGTH } from './bounds.ts';
import { CallError, OUTPUT_TOO_LONG } from './error.ts';

const cache = new Map<string, Regex>();

function regexFor(pattern: string): Regex {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  let compiled: Regex;
  try {
    compiled = compileRegex(pattern);
  } catch (error) {
    throw new CallError(messageOf(error));
  }
  if (cache.size >= MAX_CACHED_REGEXES) cache.delete(cache.keys().next().value!);
  cache.set(pattern, compiled);
  return compiled;
}

/** `by` may name groups (`$1`, `${name}`) unless it is taken literally. */
export function replaceMatches(pattern: string, text: string, by: string, literal: boolean): string {
  const regex = regexFor(pattern);
  if ((text.length + 1) * (by.length + 1) > MAX_OUTPUT_LENGTH) {
    // Together the matches are no longer than the text, and each `$` names at most one whole match.
    const references = literal ? 0 : by.split('$').length - 1;
    const longest = text.length * (1 + references) + regex.count(text) * by.length;
    if (longest > MAX_OUTPUT_LENGTH) throw new CallError(OUTPUT_TOO_LONG);
  }
  return regex.replaceAll(text, by, literal);
}

/** Matches that do not overlap. */
export function countMatches(pattern: string, text: string): number {
  return regexFor(pattern).count(text);
}
