/**
 * How to look for a pattern in a whole page's bytes instead of line by line: what to look for, and whether finding
 * it already is the answer.
 */

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
  /** A hit inside a line is a match; else the line is only a candidate. */
  readonly exact: boolean;
}

/** For a pattern as simplified for tests; undefined where nothing is worth searching for. */
export function planPageScan(node: RegexNode): PageScan | undefined {
  const literal = wholeLiteral(node);
  if (literal !== undefined) return { needle: Buffer.from(literal), bytePattern: undefined, exact: true };
  const runs = requiredRuns(node);
  const needle = longestExactLiteral(node);
  const run = mostSelectiveRun(runs);
  const isWhole = run !== undefined && runs.length === 1 && toByteV8(node) !== undefined;
  // A needle is the faster search; a byte pattern wins where it spares a test of every candidate.
  if (needle.length >= minNeedleBytes || (needle.length > 0 && !isWhole)) {
    return { needle, bytePattern: undefined, exact: false };
  }
  const source = run === undefined ? undefined : toByteV8(run);
  if (source === undefined || v8Limit(searchWork(run!)) < 0) return undefined;
  return { needle: undefined, bytePattern: new RegExp(source, 'g'), exact: isWhole };
}

/** Shorter ones stand in too many lines. */
const minNeedleBytes = 3;
