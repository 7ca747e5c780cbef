/**
 * Pruning predicate: what a line must contain if a query accepts it, as a tree of needles with and/or, in
 * plain frozen data. It is a necessary condition, never a sufficient one; `anything` prunes nothing.
 */

import { needleTerms } from './needle-terms.ts';
import { VALUES_SINCE } from './terms.ts';

export type PruningPredicate =
  | { readonly kind: 'anything' }
  /** No line satisfies it. */
  | { readonly kind: 'nothing' }
  | NeedleRequirement
  /** Decided without the text index, for each page of one chunk: 1 if it may contain such a line. */
  | { readonly kind: 'pages'; readonly mayMatch: Uint8Array }
  | { readonly kind: 'all'; readonly of: readonly PruningPredicate[] }
  | { readonly kind: 'any'; readonly of: readonly PruningPredicate[] };

/** Terms of one needle; a line with the needle contains all of them. */
export interface NeedleRequirement {
  readonly kind: 'needle';
  readonly facts: readonly number[];
  /** Length of the needle's longest run of letters and digits with a digit, 0 if there is none. */
  readonly longestRun: number;
  /** Bits of PageFlag: on a page with one of them, the terms are not implied. */
  readonly exceptFlags: number;
  /** First version of the text index that records these terms. */
  readonly since: number;
}

export const anything: PruningPredicate = Object.freeze({ kind: 'anything' });
export const nothing: PruningPredicate = Object.freeze({ kind: 'nothing' });

/**
 * Requires that the line contains the bytes, ignoring case of ASCII letters; `exceptFlags` are bits of
 * PageFlag. With `endsAreKnown`, the bytes are not next to a letter, digit or dot.
 */
export function containing(needle: Uint8Array, exceptFlags = 0, endsAreKnown = false): PruningPredicate {
  const { facts, longestRun } = needleTerms(needle, endsAreKnown);
  if (facts.length === 0 && longestRun === 0) return anything;
  return Object.freeze({ kind: 'needle', facts: Object.freeze(facts), longestRun, exceptFlags, since: 1 });
}

/** Requires that some row has a value: one term of value-terms.ts. */
export function havingValue(fact: number, exceptFlags = 0): PruningPredicate {
  const facts = Object.freeze([fact]);
  return Object.freeze({ kind: 'needle', facts, longestRun: 0, exceptFlags, since: VALUES_SINCE });
}

export function onPages(mayMatch: Uint8Array): PruningPredicate {
  if (!mayMatch.includes(0)) return anything;
  return mayMatch.includes(1) ? Object.freeze({ kind: 'pages', mayMatch }) : nothing;
}

export function allOf(parts: readonly PruningPredicate[]): PruningPredicate {
  const asked = parts.flatMap(part =>
    part.kind === 'all' ? part.of : part.kind === 'anything' ? [] : [part],
  );
  if (asked.length === 0) return anything;
  if (asked.some(part => part.kind === 'nothing')) return nothing;
  return asked.length === 1 ? asked[0] : Object.freeze({ kind: 'all', of: Object.freeze(asked) });
}

/** Requires at least one of the parts. There must be at least one part. */
export function anyOf(parts: readonly PruningPredicate[]): PruningPredicate {
  if (parts.length === 0 || parts.some(part => part.kind === 'anything')) return anything;
  const asked = parts.flatMap(part =>
    part.kind === 'any' ? part.of : part.kind === 'nothing' ? [] : [part],
  );
  if (asked.length === 0) return nothing;
  return asked.length === 1 ? asked[0] : Object.freeze({ kind: 'any', of: Object.freeze(asked) });
}

/** Returns the number of needles in the tree, which a probe must look up. */
export function countNeedles(requirement: PruningPredicate): number {
  switch (requirement.kind) {
    case 'anything':
    case 'nothing':
    case 'pages':
      return 0;
    case 'needle':
      return 1;
    default:
      return requirement.of.reduce((total, part) => total + countNeedles(part), 0);
  }
}
