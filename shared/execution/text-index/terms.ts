/**
 * Terms of a line: statements about its bytes that every needle within the line implies. A text index records
 * the terms of a page's lines. If a page lacks a term of a needle, none of its lines contains the needle. All
 * numbers in this file are part of the stored format (FILTER_VERSION). The kernel assembly/text-terms.ts
 * extracts all terms except values; assembly/split-terms.ts does so from templates and columns.
 *
 * - gram: five consecutive bytes without a digit. Grams cover nearly all of a log's text, with few distinct
 *   ones, because text that varies from line to line (IDs, numbers, times) contains digits.
 * - token: a run of four or five letters and digits, at least one digit, with both ends known.
 * - prefix: the first six bytes of a longer run whose start is known, with a digit among them. A number (six
 *   digits) has no other term; an ID has samples too.
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
 * recorded too. 3: kinds of terms set fewer bits.
 */
export const FILTER_VERSION = 3;
/** First version that records terms of values (value-terms.ts). */
export const VALUES_SINCE = 2;

/** Minimum length of a run with a token; a run of `PREFIX_BYTES` or more has a prefix instead. */
export const MIN_TOKEN_BYTES = 4;
export const PREFIX_BYTES = 6;

/**
 * Kind in the two lowest bits of a term. Parts are tokens, and prefixes with a letter. Exact terms are
 * prefixes of six digits, quads and values.
 */
export const TermKind = { part: 0, sample: 1, gram: 2, exact: 3 } as const;
const KIND_MASK = 3;
/**
 * Bits that a term of each kind sets, indexed by kind. A text usually has several grams, an ID several samples, and a UUID
 * several parts. With one bit for a sample, an index has 0.7 of the bytes, but 1.4% instead of 0.07% of the pages without an
 * ID of 32 digits pass. Exact terms are looked up alone.
 */
const BITS_OF_KIND = [2, 2, 2, 4] as const;

/** First version in which parts are a kind. Before it, they were exact terms, and a kind set its number plus 1 bits. */
const PARTS_SINCE = 3;
/** Recorded instead of a part that is 0 (assembly/term-set.ts). */
const ZERO_STAND_IN = 0x9e3779b2;

export function kindOf(term: number): number {
  return term & KIND_MASK;
}

/** Returns the number of bits that a term sets in an index of the latest version. */
export function bitsOfTerm(term: number): number {
  return BITS_OF_KIND[term & KIND_MASK];
}

/** Returns the number of bits that a term sets in an index of a version, which records it as `termIn` returns. */
export function bitsIn(version: number, term: number): number {
  return version < PARTS_SINCE ? (term & KIND_MASK) + 1 : bitsOfTerm(term);
}

/**
 * Returns a term of the latest version as an index of `version` records it; undefined if that is ambiguous, so
 * that a lookup must assume that it is present.
 */
export function termIn(version: number, term: number): number | undefined {
  if (version >= PARTS_SINCE) return term;
  if (term === ZERO_STAND_IN) return undefined;
  return kindOf(term) === TermKind.part ? (term | TermKind.exact) >>> 0 : term;
}

/** Bits of `symbolOf` above the folded byte. */
export const LETTER_BIT = 0x100;
export const DIGIT_BIT = 0x200;

/**
 * Folded byte and class of each byte: ASCII letters become lower case. Bytes above ASCII are neither letters
 * nor digits.
 */
export const symbolOf = Uint16Array.from({ length: 256 }, (_, byte) => {
  const folded = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
  if (folded >= 0x61 && folded <= 0x7a) return folded | LETTER_BIT;
  return folded >= 0x30 && folded <= 0x39 ? folded | DIGIT_BIT : folded;
});

// Odd number with mixed bits. Its value is arbitrary, but must never change.
const VALUE_SEED = 0x2c1b3c6d;

/** Combines the words of name and value (value-terms.ts) into one whose bits depend on all of theirs. */
export function valueTermOf(name: number, value: number): number {
  let h = imul(name ^ VALUE_SEED, 0x9e3779b1);
  h = imul((h ^ (h >>> 15)) + value, 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (((h ^ (h >>> 16)) & ~KIND_MASK) | TermKind.exact) >>> 0;
}

const THINNING_SHIFT = 2;

/** Returns whether a page with this thinning records the term; the bits above its kind decide. */
export function isRecorded(term: number, thinning: number): boolean {
  return ((term >>> THINNING_SHIFT) & ((1 << thinning) - 1)) === 0;
}
