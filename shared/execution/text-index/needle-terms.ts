/**
 * The facts that a needle requires of every line that contains it, cut down to the few worth looking up: each is a small
 * read of its own, and after a dozen bits another one hardly removes a page more.
 */
import { termSetOfThread } from '../../base/kernels/term-set.ts';
import { bitsOfTerm, isExactFact, isGramFact } from './terms.ts';

export interface NeedleFacts {
  readonly facts: number[];
  /** Of letters and digits with a digit among them, bytes. */
  readonly longestRun: number;
}

/** Reads for one needle: an absent one passes a page once in 2^bits, and 1,000 pages want about 2^-12. */
const wantedBits = 14;
const maxLookups = 8;
/** The front of a longer needle says enough. */
const maxNeedleBytes = 4_096;

/** @param endsAreKnown what stands beside the needle is no letter, no digit and no dot */
export function needleTerms(needle: Uint8Array, endsAreKnown = false): NeedleFacts {
  const length = Math.min(needle.length, maxNeedleBytes);
  // So short a text has fewer terms than the set holds: nothing is thinned out.
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

/** The same facts, neighbours far apart: ends, middle, quarters, ... Overlapping grams say nearly the same. */
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
