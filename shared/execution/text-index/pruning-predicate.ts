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
  | NeedlePredicate
  /** Decided without the text index, for each page of one chunk: 1 if it may contain such a line. */
  | { readonly kind: 'pages'; readonly mayMatch: Uint8Array }
  | { readonly kind: 'all'; readonly of: readonly PruningPredicate[] }
  | { readonly kind: 'any'; readonly of: readonly PruningPredicate[] };

/** Terms of one needle; a line with the needle contains all of them. */
export interface NeedlePredicate {
  readonly kind: 'needle';
  readonly terms: readonly number[];
  /** Length of the needle's longest run of letters and digits with a digit, 0 if there is none. */
  readonly longestRun: number;
  /** Bits of PageFlag: on a page with one of them, the terms are not implied. */
  readonly exceptFlags: number;
  /** First version of the text index that records these terms. */
  readonly since: number;
}

export const ANYTHING: PruningPredicate = Object.freeze({ kind: 'anything' });
export const NOTHING: PruningPredicate = Object.freeze({ kind: 'nothing' });

/**
 * Requires that the line contains the bytes, ignoring case of ASCII letters; `exceptFlags` are bits of
 * PageFlag. With `endsAreKnown`, the bytes are not next to a letter, digit or dot.
 */
export function containing(needle: Uint8Array, exceptFlags = 0, endsAreKnown = false): PruningPredicate {
  const { terms, longestRun } = needleTerms(needle, endsAreKnown);
  if (terms.length === 0 && longestRun === 0) return ANYTHING;
  return Object.freeze({ kind: 'needle', terms: Object.freeze(terms), longestRun, exceptFlags, since: 1 });
}

/** Requires that some row has a value: one term of value-terms.ts. */
export function havingValue(term: number, exceptFlags = 0): PruningPredicate {
  const terms = Object.freeze([term]);
  return Object.freeze({ kind: 'needle', terms, longestRun: 0, exceptFlags, since: VALUES_SINCE });
}

export function onPages(mayMatch: Uint8Array): PruningPredicate {
  if (!mayMatch.includes(0)) return ANYTHING;
  return mayMatch.includes(1) ? Object.freeze({ kind: 'pages', mayMatch }) : NOTHING;
}

export function allOf(parts: readonly PruningPredicate[]): PruningPredicate {
  const required = parts.flatMap(part =>
    part.kind === 'all' ? part.of : part.kind === 'anything' ? [] : [part],
  );
  if (required.length === 0) return ANYTHING;
  if (required.some(part => part.kind === 'nothing')) return NOTHING;
  return required.length === 1 ? required[0] : Object.freeze({ kind: 'all', of: Object.freeze(required) });
}

/** Requires at least one of the parts. There must be at least one part. */
export function anyOf(parts: readonly PruningPredicate[]): PruningPredicate {
  if (parts.length === 0 || parts.some(part => part.kind === 'anything')) return ANYTHING;
  const required = parts.flatMap(part =>
    part.kind === 'any' ? part.of : part.kind === 'nothing' ? [] : [part],
  );
  if (required.length === 0) return NOTHING;
  return required.length === 1 ? required[0] : Object.freeze({ kind: 'any', of: Object.freeze(required) });
}

/** Returns the number of needles in the tree, which a probe must look up. */
export function countNeedles(predicate: PruningPredicate): number {
  switch (predicate.kind) {
    case 'anything':
    case 'nothing':
    case 'pages':
      return 0;
    case 'needle':
      return 1;
    default:
      return predicate.of.reduce((total, part) => total + countNeedles(part), 0);
  }
}
