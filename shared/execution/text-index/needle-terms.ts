/**
 * Terms that every line with a needle contains, reduced to the few that are worth a lookup. Each lookup is a
 * separate small read, and after a dozen bits a further one prunes hardly any page.
 */
import { termSetOfThread } from '../../base/kernels/term-set.ts';
import { bitsOfTerm, isExactFact, isGramFact } from './terms.ts';

export interface NeedleFacts {
  readonly facts: number[];
  /** Length of the longest run of letters and digits that contains a digit, bytes. */
  readonly longestRun: number;
}

/**
 * Maximum bits per needle: an absent needle passes a page with a probability of 2^-bits, and 1,000 pages need
 * about 2^-12.
 */
const wantedBits = 14;
const maxLookups = 8;
/** Maximum bytes of a needle; the start of a longer needle is selective enough. */
const maxNeedleBytes = 4_096;

/** @param endsAreKnown The needle is not next to a letter, a digit or a dot */
export function needleTerms(needle: Uint8Array, endsAreKnown = false): NeedleFacts {
  const length = Math.min(needle.length, maxNeedleBytes);
  // A text this short has fewer terms than the set holds, so none is thinned out.
  const found = termSetOfThread();
  found.clear();
  found.addText(needle.subarray(0, length), endsAreKnown && length === needle.length);
  const facts = [...found.terms];
  const exact = facts.filter(isExactFact);
  const samples = facts.filter(fact => !isExactFact(fact) && !isGramFact(fact));
  const grams = spread(facts.filter(isGramFact));
  const chosen: number[] = [];
  let bits = 0;
  for (const fact of [...exact, ...samples, ...grams]) {
    if (chosen.length === maxLookups || bits >= wantedBits) break;
    chosen.push(fact);
    bits += bitsOfTerm(fact);
  }
  return { facts: chosen, longestRun: found.longestRun };
}

/**
 * Reorders the terms so that neighbors are far apart: ends, middle, quarters, and so on. Overlapping grams
 * are nearly redundant.
 */
function spread(facts: readonly number[]): number[] {
  const order: number[] = [];
  const taken = new Set<number>();
  const take = (index: number) => {
    if (taken.has(index)) return;
    taken.add(index);
    order.push(facts[index]);
  };
  for (let parts = 1; order.length < Math.min(facts.length, maxLookups); parts *= 2) {
    for (let i = 0; i <= parts; i++) take(Math.round(((facts.length - 1) * i) / parts));
  }
  return order;
}
