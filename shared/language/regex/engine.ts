/**
 * Which engine runs a pattern on a text, and running it. V8 has the texts on which its work is bounded; re2js has
 * the rest, in time linear in the text whatever the pattern.
 */
import { type Matcher, RE2JS } from 're2js';
import { BadRequestError } from '../../base/model/errors.ts';
import { isNullable, type RegexNode } from './syntax.ts';
import { toV8 } from './translate.ts';
import { isAnchored, searchWork, type Work } from './work.ts';

/** UTF-16 units. V8 keeps a place to return to for each character of a loop; longer texts are rare. */
export const maxV8Units = 65_536;

/**
 * Steps for each unit of text that V8 may need at worst. A step takes about 2 ns, so `a{250}b` on nothing but `a`
 * takes 0.6 s for a page of 1 MiB, and that is the worst.
 */
const maxLinearStepsPerUnit = 256;
/**
 * The bound on quadratic patterns is looser: a tenth of it is the worst that was measured (0.5 s for 1 MiB). So
 * they may have more, and `error.*timeout` runs on lines of up to 585 units.
 */
const maxQuadraticStepsPerUnit = 4_096;

/** The longest text V8 may have, in UTF-16 units; -1 for none. */
export function v8Limit(work: Work): number {
  if (work.degree <= 1) return work.steps <= maxLinearStepsPerUnit ? maxV8Units : -1;
  // Half of all pairs of places: steps * n * n / 2 <= budget * n.
  return work.degree === 2
    ? Math.min(maxV8Units, Math.floor((2 * maxQuadraticStepsPerUnit) / work.steps))
    : -1;
}

/** One purpose of a pattern (test, first match, all matches) with V8's part in it. */
export interface Engine {
  /** Undefined where V8 never runs. */
  readonly v8: RegExp | undefined;
  /** Longest text for V8, UTF-16 units; -1 where V8 never runs. */
  readonly maxV8Units: number;
  /** All matches cost no more than a constant number of passes over the text, with either engine. */
  readonly linear: boolean;
}

export function chooseEngine(node: RegexNode, flags: 'u' | 'gu'): Engine {
  const work = searchWork(node);
  // An empty match may lie anywhere, and V8 also finds it between the two halves of a surrogate pair.
  const limit = isNullable(node) && !isAnchored(node) ? -1 : v8Limit(work);
  const source = limit < 0 ? undefined : toV8(node);
  return {
    v8: source === undefined ? undefined : new RegExp(source, flags),
    maxV8Units: source === undefined ? -1 : limit,
    linear: work.degree <= 1,
  };
}

/** A match with its place in the text, in UTF-16 units. */
export interface PlacedMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

/** Finds matches one after the other in one text. Each search sees the whole text around it. */
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

/** Characters that searches for further matches may read again and again in one text; 2 s at worst. */
const maxRereadUnits = 2 ** 26;

/**
 * Ends a run of searches that would read the rest of a long text once for each match, as `a.*b|a` does on a line
 * of many `a`. Go would take its quadratic time; here other tenants wait.
 */
export function withRereadLimit(finder: Finder, text: string): Finder {
  let left = maxRereadUnits;
  return {
    next(from) {
      left -= text.length - from;
      if (left < 0)
        throw new BadRequestError(`regular expression needs too much work on ${text.length} characters`);
      return finder.next(from);
    },
  };
}

/** The one case in which a valid pattern has no answer. */
export function tooMuchWork(text: string): BadRequestError {
  return new BadRequestError(`regular expression needs too much work on ${text.length} characters`);
}

export function firstGroupsWithRe2(pattern: RE2JS, text: string): (string | undefined)[] | undefined {
  const matcher = pattern.matcher(text.toWellFormed());
  return matcher.find() ? groupsOf(matcher, text) : undefined;
}

/** Groups as pieces of the text itself, whose escaped bytes (byte-text.ts) the matcher saw as U+FFFD. */
function groupsOf(matcher: Matcher, text: string): (string | undefined)[] {
  const groups: (string | undefined)[] = [];
  for (let i = 0; i <= matcher.groupCount(); i++) {
    const start = matcher.start(i);
    groups.push(start < 0 ? undefined : text.slice(start, matcher.end(i)));
  }
  return groups;
}

/** How many matches Go lists. */
export function countMatches(finder: Finder, text: string): number {
  let count = 0;
  let lastEnd = -1;
  for (let at = 0; at <= text.length; ) {
    const match = finder.next(at);
    if (match === undefined) break;
    // An empty match right behind the last one does not count.
    const isRepeat = match.end === at && match.start === lastEnd;
    if (!isRepeat) count++;
    lastEnd = match.end;
    at = match.end === at ? at + unitsAt(text, at) : match.end;
  }
  return count;
}

/** Go's replacement: an empty match right behind a match is not replaced. */
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

/** UTF-16 units of the code point at `at`; 1 behind the end. */
function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

export function compileRe2(source: string): RE2JS {
  return RE2JS.compile(source);
}
