/**
 * The tree that re2js parses a pattern to. It is Go's: alternatives are factored (`prod-eu|prod-us` is `prod-(eu|us)`,
 * `bar|baz` is `ba[rz]`), neighboring characters are one literal, and counted repetitions are written out.
 *
 * Pitfall: re2js does not publish this tree. Only `RE2Set` shows it, and the tests of this folder hold its form.
 */
import { RE2Set } from 're2js';

/** Numbers that re2js gives to the kinds of its nodes. */
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
  /** Bits: `foldFlag` is one of them. Every node that the parser made of a pattern has some other bit too. */
  readonly flags: number;
  /** Code points of a literal, ranges of a class. */
  readonly runes: ArrayLike<number>;
  readonly subs: readonly Re2Node[];
}

/** Flag of nodes that ignore case. */
export const foldFlag = 1;

/** Throws an error of re2js for an invalid pattern. */
export function parseRe2(pattern: string): Re2Node {
  const set = new RE2Set();
  set.add(pattern);
  return set.regexps[0] as Re2Node;
}
