/**
 * Tree to which re2js parses a pattern. It equals Go's: alternatives are factored (`prod-eu|prod-us` is
 * `prod-(eu|us)`, `bar|baz` is `ba[rz]`), neighboring characters form one literal, and counted repetitions
 * are expanded.
 *
 * Pitfall: re2js does not publish this tree; only `RE2Set` exposes it. The tests of this folder fix its form.
 */
import { RE2Set } from 're2js';

/** Node kinds as numbered by re2js. */
export const Re2Op = {
  noMatch: 0,
  empty: 1,
  literal: 2,
  charClass: 3,
  anyButNewline: 4,
  any: 5,
  capture: 12,
  star: 13,
  plus: 14,
  concat: 17,
  alternate: 18,
} as const;

export interface Re2Node {
  readonly op: number;
  /** Bits such as `FOLD_FLAG`. Every node that the parser created from a pattern also has other bits. */
  readonly flags: number;
  /** Code points of a literal, or ranges of a class. */
  readonly runes: ArrayLike<number>;
  readonly subs: readonly Re2Node[];
}

/** Flag of nodes that ignore case. */
export const FOLD_FLAG = 1;

/** Parses a pattern. Throws an error of re2js if it is invalid. */
export function parseRe2(pattern: string): Re2Node {
  const set = new RE2Set();
  set.add(pattern);
  return set.regexps[0] as Re2Node;
}
