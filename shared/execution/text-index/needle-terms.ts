/**
 * Terms that every line with a needle contains, reduced to the few that are worth a lookup. Each lookup is a
 * separate small read, and after a dozen bits a further one prunes hardly any page.
 */
import { termSetOfThread } from '../../base/kernels/term-set.ts';
import { bitsOfTerm, kindOf, TermKind } from './terms.ts';

interface NeedleTerms {
  readonly terms: number[];
  /** Length of the longest run of letters and digits that contains a digit, bytes. */
  readonly longestRun: number;
}

/**
 * Maximum bits per needle. With 60% of a filter's bits set, an absent needle passes a page with a probability
 * of 0.6^bits: these pass one of 1,300.
 */
const WANTED_BITS = 14;
const MAX_LOOKUPS = 8;
/** Maximum bytes of a needle; the start of a longer needle is selective enough. */
const MAX_NEEDLE_BYTES = 4_096;

/** @param endsAreKnown The needle is not next to a letter, a digit or a dot */
export function needleTerms(needle: Uint8Array, endsAreKnown = false): NeedleTerms {
  const length = Math.min(needle.length, MAX_NEEDLE_BYTES);
  // A text this short has fewer terms than the set holds, so none is thinned out.
  const found = termSetOfThread();
  found.clear();
  found.addText(needle.subarray(0, length), endsAreKnown && length === needle.length);
  const terms = [...found.terms];
  const ofKind = (kind: number) => terms.filter(term => kindOf(term) === kind);
  const chosen: number[] = [];
  let bits = 0;
  const { exact, part, sample, gram } = TermKind;
  for (const term of [...ofKind(exact), ...ofKind(part), ...ofKind(sample), ...spread(ofKind(gram))]) {
    if (chosen.length === MAX_LOOKUPS || bits >= WANTED_BITS) break;
    chosen.push(term);
    bits += bitsOfTerm(term);
  }
  return { terms: chosen, longestRun: found.longestRun };
}

/**
 * Reorders the terms so that neighbors are far apart: ends, middle, quarters, and so on. Overlapping grams
 * are nearly redundant.
 */
function spread(terms: readonly number[]): number[] {
  const order: number[] = [];
  const taken = new Set<number>();
  const take = (index: number) => {
    if (taken.has(index)) return;
    taken.add(index);
    order.push(terms[index]);
  };
  for (let parts = 1; order.length < Math.min(terms.length, MAX_LOOKUPS); parts *= 2) {
    for (let i = 0; i <= parts; i++) take(Math.round(((terms.length - 1) * i) / parts));
  }
  return order;
}
