/**
 * What a line must hold for a query to keep it: a tree of needles joined by and and or, plain frozen data. It is a
 * necessary condition, never a sufficient one; `anything` asks for nothing and prunes nothing.
 */
import { needleFacts } from './needle-facts.ts';

export type Requirement =
  | { readonly kind: 'anything' }
  | NeedleRequirement
  | { readonly kind: 'all'; readonly of: readonly Requirement[] }
  | { readonly kind: 'any'; readonly of: readonly Requirement[] };

/** The facts of one needle, all of which a line with the needle has. */
export interface NeedleRequirement {
  readonly kind: 'needle';
  readonly facts: readonly number[];
  /** Length of the needle's longest run of letters and digits with a digit, 0 where it has none. */
  readonly longestRun: number;
  /** Bits of PageFlag: on a page with one of them the facts are not implied. */
  readonly exceptFlags: number;
}

export const anything: Requirement = Object.freeze({ kind: 'anything' });

/** The line contains the bytes, whatever the case of ASCII letters; `exceptFlags` are bits of PageFlag. */
export function containing(needle: Uint8Array, exceptFlags = 0): Requirement {
  const { facts, longestRun } = needleFacts(needle);
  if (facts.length === 0 && longestRun === 0) return anything;
  return Object.freeze({ kind: 'needle', facts: Object.freeze(facts), longestRun, exceptFlags });
}

export function allOf(parts: readonly Requirement[]): Requirement {
  const asked = parts.flatMap(part =>
    part.kind === 'all' ? part.of : part.kind === 'anything' ? [] : [part],
  );
  if (asked.length === 0) return anything;
  return asked.length === 1 ? asked[0] : Object.freeze({ kind: 'all', of: Object.freeze(asked) });
}

/** At least one part, of which there must be one. */
export function anyOf(parts: readonly Requirement[]): Requirement {
  if (parts.some(part => part.kind === 'anything')) return anything;
  const asked = parts.flatMap(part => (part.kind === 'any' ? part.of : [part]));
  if (asked.length === 0) return anything;
  return asked.length === 1 ? asked[0] : Object.freeze({ kind: 'any', of: Object.freeze(asked) });
}

/** Needles of the tree: what a probe has to look up. */
export function countNeedles(requirement: Requirement): number {
  switch (requirement.kind) {
    case 'anything':
      return 0;
    case 'needle':
      return 1;
    default:
      return requirement.of.reduce((total, part) => total + countNeedles(part), 0);
  }
}
