/**
 * Plans the search for a pattern in all bytes of a page instead of line by line: the search key, and whether
 * a hit already proves a match.
 */

import type { BytePattern } from '../../base/model/byte-pattern.ts';
import { BytePatternSearch } from './byte-pattern-search.ts';
import { patternOfNeedle, requiredBytePatterns } from './byte-patterns.ts';
import { requiredByteSets } from './byte-set-search.ts';
import { v8Limit } from './engine.ts';
import { longestExactLiteral, mostSelectiveRun, requiredRuns, wholeLiteral } from './literals.ts';
import type { RegexNode } from './syntax.ts';
import { toByteV8 } from './translate.ts';
import { searchWork } from './work.ts';

/** Searches lines in line memory. */
export interface LineMemorySearch {
  /** Length of the latest match, bytes. */
  readonly length: number;
  /** Returns the offset of the first match within `from` to `to`, or -1. */
  find(lines: Buffer, from: number, to: number): number;
}

/** Search in a page. Every matching line contains the needle, or a match of the byte pattern. */
export interface PageScan {
  /** Text for Buffer.indexOf. Either this or `bytePattern` is defined. */
  readonly needle: Buffer | undefined;
  /** Global regular expression over text whose units are bytes (latin1). */
  readonly bytePattern: RegExp | undefined;
  /** Alternative to `bytePattern` for lines in line memory: finds at least the same lines. */
  readonly lineMemorySearch: { readonly search: LineMemorySearch; readonly exact: boolean } | undefined;
  /** Byte patterns of which every matching line contains at least one; empty if none are known. */
  readonly patterns: readonly BytePattern[];
  /** Whether a hit inside a line is a match. Otherwise the line is only a candidate. */
  readonly exact: boolean;
}

/**
 * Plans the search for a pattern that was simplified for tests. Returns undefined if no search is worthwhile.
 */
export function planPageScan(node: RegexNode): PageScan | undefined {
  const literal = wholeLiteral(node);
  if (literal !== undefined) return { ...needleScan(Buffer.from(literal)), exact: true };
  const runs = requiredRuns(node);
  const needle = longestExactLiteral(node);
  const run = mostSelectiveRun(runs);
  // A needle is the simplest search; a byte pattern is better than one or two characters.
  if (run === undefined || needle.length >= MIN_NEEDLE_BYTES) return scanOfLongest(needle);
  const source = toByteV8(run);
  if (source === undefined || v8Limit(searchWork(run)) < 0) return scanOfLongest(needle);
  const exact = runs.length === 1 && toByteV8(node) !== undefined;
  const search = searchOf(exact ? node : run, exact);
  return { needle: undefined, bytePattern: new RegExp(source, 'g'), exact, ...search };
}

/** @param exact whether the node is the whole expression */
function searchOf(node: RegexNode, exact: boolean): Pick<PageScan, 'lineMemorySearch' | 'patterns'> {
  const required = requiredBytePatterns(node);
  if (required !== undefined) {
    const { patterns } = required;
    const search = new BytePatternSearch(patterns);
    return { patterns, lineMemorySearch: { search, exact: exact && required.exact } };
  }
  const sets = requiredByteSets(node);
  return { patterns: [], lineMemorySearch: sets && { search: sets.search, exact: exact && sets.exact } };
}

function needleScan(needle: Buffer): PageScan {
  const patterns = [patternOfNeedle(needle)];
  return { needle, patterns, bytePattern: undefined, lineMemorySearch: undefined, exact: false };
}

function scanOfLongest(needle: Buffer): PageScan | undefined {
  return needle.length === 0 ? undefined : needleScan(needle);
}

/** Minimum length of a needle. Shorter ones occur in too many lines. */
const MIN_NEEDLE_BYTES = 3;
