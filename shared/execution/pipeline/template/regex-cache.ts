/**
 * Bounded cache of the regular expressions of template functions, because patterns may be computed per line.
 */
import { messageOf } from '../../../base/model/errors.ts';
import { compileRegex, type Regex } from '../../../language/regex/regex.ts';
import { MAX_CACHED_REGEXES, MAX_OUTPUT_LENGTH } from './bounds.ts';
import { CallError, OUTPUT_TOO_LONG } from './error.ts';

const CACHE = new Map<string, Regex>();

function regexFor(pattern: string): Regex {
  const known = CACHE.get(pattern);
  if (known !== undefined) return known;
  let compiled: Regex;
  try {
    compiled = compileRegex(pattern);
  } catch (error) {
    throw new CallError(messageOf(error));
  }
  if (CACHE.size >= MAX_CACHED_REGEXES) CACHE.delete(CACHE.keys().next().value!);
  CACHE.set(pattern, compiled);
  return compiled;
}

/** Replaces matches; `by` may name groups (`$1`, `${name}`) unless `literal` is set. */
export function replacePattern(pattern: string, text: string, by: string, literal: boolean): string {
  const regex = regexFor(pattern);
  if ((text.length + 1) * (by.length + 1) > MAX_OUTPUT_LENGTH) {
    // The sum of all matches is at most as long as the text, and each `$` names at most one whole match.
    const references = literal ? 0 : by.split('$').length - 1;
    const longest = text.length * (1 + references) + regex.count(text) * by.length;
    if (longest > MAX_OUTPUT_LENGTH) throw new CallError(OUTPUT_TOO_LONG);
  }
  return regex.replaceAll(text, by, literal);
}

/** Returns the number of non-overlapping matches. */
export function countPattern(pattern: string, text: string): number {
  return regexFor(pattern).count(text);
}
