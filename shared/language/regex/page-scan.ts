/**
 * How to look for a pattern in a whole page's bytes instead of line by line: what to look for, and whether finding
 * it already is the answer.
 */

import { BytePatternSearch } from './byte-pattern-search.ts';
import { requiredStretches } from './byte-patterns.ts';
import { v8Limit } from './engine.ts';
import { longestExactLiteral, mostSelectiveRun, requiredRuns, wholeLiteral } from './literals.ts';
import type { RegexNode } from './syntax.ts';
import { toByteV8 } from './translate.ts';
import { searchWork } from './work.ts';

/** Every matching line contains the needle, or a match of the byte pattern. */
export interface PageScan {
  /** Looked for with Buffer.indexOf. Either this or `bytePattern` is there. */
  readonly needle: Buffer | undefined;
  /** Global pattern over text whose units are bytes (latin1). */
  readonly bytePattern: RegExp | undefined;
  /** Beside a byte pattern: what finds as much or more, for lines that it works on. */
  readonly stretches: { readonly search: BytePatternSearch; readonly exact: boolean } | undefined;
  /** A hit inside a line is a match; else the line is only a candidate. */
  readonly exact: boolean;
}

/** For a pattern as simplified for tests; undefined where nothing is worth searching for. */
export function planPageScan(node: RegexNode): PageScan | undefined {
  const literal = wholeLiteral(node);
  if (literal !== undefined)
    return { needle: Buffer.from(literal), bytePattern: undefined, stretches: undefined, exact: true };
  const runs = requiredRuns(node);
  const needle = longestExactLiteral(node);
  const run = mostSelectiveRun(runs);
  // A needle is the simplest search; a byte pattern is better than one or two characters.
  if (run === undefined || needle.length >= minNeedleBytes) return needleScan(needle);
  const source = toByteV8(run);
  if (source === undefined || v8Limit(searchWork(run)) < 0) return needleScan(needle);
  const exact = runs.length === 1 && toByteV8(node) !== undefined;
  const required = requiredStretches(exact ? node : run);
  const stretches = required && {
    search: new BytePatternSearch(required.stretches),
    exact: exact && required.exact,
  };
  return { needle: undefined, bytePattern: new RegExp(source, 'g'), stretches, exact };
}

function needleScan(needle: Buffer): PageScan | undefined {
  return needle.length === 0
    ? undefined
    : { needle, bytePattern: undefined, stretches: undefined, exact: false };
}

/** Shorter ones stand in too many lines. */
const minNeedleBytes = 3;
