/**
 * Chooses the engine for a pattern and a text, and runs it. V8 runs texts for which its work is bounded.
 * re2js runs all others, in time linear in the text for any pattern.
 */
import { type Matcher, RE2JS } from 're2js';
import { BadRequestError } from '../../base/model/errors.ts';
import { isNullable, type RegexNode } from './syntax.ts';
import { toV8 } from './translate.ts';
import { isAnchored, searchWork, type Work } from './work.ts';

/**
 * Maximum text length for V8, UTF-16 units. V8 stores a backtracking position for each character of a loop;
 * longer texts are rare.
 */
export const MAX_V8_UNITS = 65_536;

/**
 * Maximum steps per unit of text for linear patterns. A step takes about 2 ns. In the worst case, `a{250}b`
 * on a page of 1 MiB of `a` takes 0.6 s.
 */
const MAX_LINEAR_STEPS_PER_UNIT = 256;
/**
 * Maximum steps per unit of text for quadratic patterns. Their estimate is looser: the worst measured run
 * took a tenth of it (0.5 s for 1 MiB). With this limit, `error.*timeout` runs on lines of up to 585 units.
 */
const MAX_QUADRATIC_STEPS_PER_UNIT = 4_096;

/** Returns the maximum text length for V8, in UTF-16 units; -1 if V8 must not run. */
export function v8Limit(work: Work): number {
  if (work.degree <= 1) return work.steps <= MAX_LINEAR_STEPS_PER_UNIT ? MAX_V8_UNITS : -1;
  // Half of all pairs of positions: steps * n * n / 2 <= budget * n.
  return work.degree === 2
    ? Math.min(MAX_V8_UNITS, Math.floor((2 * MAX_QUADRATIC_STEPS_PER_UNIT) / work.steps))
    : -1;
}

/** Engine for one use of a pattern (test, first match, all matches). */
export interface Engine {
  /** Undefined if V8 never runs. */
  readonly v8: RegExp | undefined;
  /** Maximum text length for V8, UTF-16 units; -1 if V8 never runs. */
  readonly maxV8Units: number;
  /** Whether finding all matches costs a constant number of passes over the text, with either engine. */
  readonly linear: boolean;
}

export function chooseEngine(node: RegexNode, flags: 'u' | 'gu'): Engine {
  const work = searchWork(node);
  // An empty match can occur anywhere, and V8 also finds one between the halves of a surrogate pair.
  const limit = isNullable(node) && !isAnchored(node) ? -1 : v8Limit(work);
  const source = limit < 0 ? undefined : toV8(node);
  return {
    v8: source === undefined ? undefined : new RegExp(source, flags),
    maxV8Units: source === undefined ? -1 : limit,
    linear: work.degree <= 1,
  };
}

/** Match with its position in the text, in UTF-16 units. */
interface PlacedMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

/** Finds successive matches in one text. Each search sees the whole text as context. */
export interface Finder {
  next(from: number): PlacedMatch | undefined;
}

export function finderWithV8(pattern: RegExp, text: string): Finder {
  return {
    next(from) {
      pattern.lastIndex = from;
      const match = pattern.exec(text);
      if (match === null) return undefined;
      return { start: match.index, end: match.index + match[0].length, groups: match };
    },
  };
}

export function finderWithRe2(pattern: RE2JS, text: string): Finder {
  const matcher = pattern.matcher(text.toWellFormed());
  return {
    next(from) {
      if (!matcher.find(from)) return undefined;
      return { start: matcher.start(), end: matcher.end(), groups: groupsOf(matcher, text) };
    },
  };
}

/** Maximum number of characters that repeated searches may read again in one text; 2 s in the worst case. */
const MAX_REREAD_UNITS = 2 ** 26;

/**
 * Stops a sequence of searches that would read the remaining text once per match, such as `a.*b|a` on a line
 * of many `a`. Go would take quadratic time. In Logboom, that would delay other tenants.
 */
export function withRereadLimit(finder: Finder, text: string): Finder {
  let left = MAX_REREAD_UNITS;
  return {
    next(from) {
      left -= text.length - from;
      if (left < 0)
        throw new BadRequestError(
          `regular expression needs too much work on ${text.length} characters; simplify it, or filter lines by a fixed text first`,
        );
      return finder.next(from);
    },
  };
}

/** Error for the only case in which a valid pattern has no result. */
export function tooMuchWork(text: string): BadRequestError {
  return new BadRequestError(
    `regular expression needs too much work on ${text.length} characters; simplify it, or filter lines by a fixed text first`,
  );
}

export function firstGroupsWithRe2(pattern: RE2JS, text: string): (string | undefined)[] | undefined {
  const matcher = pattern.matcher(text.toWellFormed());
  return matcher.find() ? groupsOf(matcher, text) : undefined;
}

/**
 * Returns the groups as slices of the original text. The matcher saw its escaped bytes (byte-text.ts) as
 * U+FFFD.
 */
function groupsOf(matcher: Matcher, text: string): (string | undefined)[] {
  const groups: (string | undefined)[] = [];
  for (let i = 0; i <= matcher.groupCount(); i++) {
    const start = matcher.start(i);
    groups.push(start < 0 ? undefined : text.slice(start, matcher.end(i)));
  }
  return groups;
}

/** Counts the matches that Go would list. */
export function countMatches(finder: Finder, text: string): number {
  let count = 0;
  let lastEnd = -1;
  for (let at = 0; at <= text.length; ) {
    const match = finder.next(at);
    if (match === undefined) break;
    // An empty match right after the previous match does not count.
    const isRepeat = match.end === at && match.start === lastEnd;
    if (!isRepeat) count++;
    lastEnd = match.end;
    at = match.end === at ? at + unitsAt(text, at) : match.end;
  }
  return count;
}

/** Replaces matches as Go does: an empty match right after a match is not replaced. */
export function replaceMatches(
  finder: Finder,
  text: string,
  expand: (groups: readonly (string | undefined)[]) => string,
): string {
  let out = '';
  let lastEnd = 0;
  for (let at = 0; at <= text.length; ) {
    const match = finder.next(at);
    if (match === undefined) break;
    out += text.slice(lastEnd, match.start);
    if (match.end > lastEnd || match.start === 0) out += expand(match.groups);
    lastEnd = match.end;
    at = Math.max(match.end, at + unitsAt(text, at));
  }
  return out + text.slice(lastEnd);
}

/** Returns the UTF-16 units of the code point at `at`; 1 after the end. */
function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

export function compileRe2(source: string): RE2JS {
  return RE2JS.compile(source);
}
