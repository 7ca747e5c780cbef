/**
 * Terms of a line: facts about its bytes that every needle within the line shares. A text index records the
 * terms of a page's lines. If a page lacks a term of a needle, none of its lines contains the needle. All
 * numbers in this file are part of the stored format (FILTER_VERSION). The kernel assembly/text-terms.ts
 * extracts all terms except values.
 *
 * - gram: five consecutive bytes without a digit. Grams cover nearly all of a log's text, with few distinct
 *   ones, because text that varies from line to line (IDs, numbers, times) contains digits.
 * - token: a run of four or five letters and digits, at least one digit, with both ends known.
 * - prefix: the first six bytes of a longer run whose start is known, with a digit among them.
 * - quad: the middle two numbers of a dotted address, `.168.13.`.
 * - value: a whole value of a named field or metadata (value-terms.ts); the only term that is not about
 *   consecutive bytes.
 * - sample: eight consecutive letters and digits, at least one digit, selected only by these eight bytes
 *   (closed syncmers). Of its seven pairs of bytes, the first or the last has the lowest order value. 2 in 7
 *   windows are samples. Every sequence of 13 letters and digits contains one, unless all are letters.
 *
 * Pitfall: whether a term is recorded may depend only on its own bytes, or on the byte before it if its start
 * must be known. A rule that reads further bytes could decide differently in a line and in a needle cut from
 * it. Only ASCII letters are folded; K and S have relatives outside ASCII (see `PageFlag.wideFold`).
 */

// Local copy: in a vm context, where tests run, each access to a global costs as much as a line.
const { imul } = Math;

/**
 * Version, incremented if terms, their hashes or the layout change. 2: values of fields and of metadata are
 * recorded too.
 */
export const FILTER_VERSION = 2;
/** First version that records terms of values (value-terms.ts). */
export const VALUES_SINCE = 2;

/** Minimum length of a run with a token; a run of `prefixBytes` or more has a prefix instead. */
export const minTokenBytes = 4;
export const prefixBytes = 6;

/**
 * Kind in the two lowest bits of a term, which is also the number of bits that it sets, minus 1. Samples are
 * the most frequent terms, and an ID has several. Tokens, prefixes and quads occur alone.
 */
export const FactKind = { sample: 1, gram: 2, exact: 3 } as const;
const kindMask = 3;

export function bitsOfTerm(fact: number): number {
  return (fact & kindMask) + 1;
}

export function isExactFact(fact: number): boolean {
  return (fact & kindMask) === FactKind.exact;
}

export function isGramFact(fact: number): boolean {
  return (fact & kindMask) === FactKind.gram;
}

/** Bits of `symbolOf` above the folded byte. */
export const letterBit = 0x100;
export const digitBit = 0x200;

/**
 * Folded byte and class of each byte: ASCII letters become lower case. Bytes above ASCII are neither letters
 * nor digits.
 */
export const symbolOf = Uint16Array.from({ length: 256 }, (_, byte) => {
  const folded = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
  if (folded >= 0x61 && folded <= 0x7a) return folded | letterBit;
  return folded >= 0x30 && folded <= 0x39 ? folded | digitBit : folded;
});

// Odd number with mixed bits. Its value is arbitrary, but must never change.
const valueSeed = 0x2c1b3c6d;

/** Combines the words of name and value (value-terms.ts) into one whose bits depend on all of theirs. */
export function valueFactOf(name: number, value: number): number {
  let h = imul(name ^ valueSeed, 0x9e3779b1);
  h = imul((h ^ (h >>> 15)) + value, 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (((h ^ (h >>> 16)) & ~kindMask) | FactKind.exact) >>> 0;
}

const thinningShift = 2;

/** Returns whether a page with this thinning records the term; the bits above its kind decide. */
export function isRecorded(fact: number, thinning: number): boolean {
  return ((fact >>> thinningShift) & ((1 << thinning) - 1)) === 0;
}
