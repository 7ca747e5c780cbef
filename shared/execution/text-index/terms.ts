/**
 * The facts of a line: small statements about its bytes that a needle inside the line implies. A text filter records the
 * facts of a page's lines; a needle whose facts a page lacks is in none of its lines. All numbers here are part of the
 * stored format (FILTER_VERSION). The kernel assembly/text-terms.ts finds all but values; there they are called terms.
 *
 * - gram: five bytes in a row, none of them a digit. Nearly all of a log's text, and few distinct ones, because what
 *   differs from line to line (ids, numbers, times) holds digits.
 * - token: a run of four or five letters and digits, at least one digit, with both of its ends known.
 * - prefix: the first six of a longer run whose start is known, with a digit among them.
 * - quad: the middle two numbers of a dotted address, `.168.13.`.
 * - value: a whole value of a named field or metadata (value-terms.ts); only these are not about bytes in a row.
 * - sample: eight letters and digits in a row, at least one digit, chosen by a rule that looks at these eight bytes only
 *   (closed syncmers): of its seven pairs of bytes none comes, in a mixed order, before both the first and the last. 2 in 7
 *   are samples, and every stretch of 13 letters and digits holds one, all letters set apart.
 *
 * What a reader would get wrong: whether a fact counts may depend only on bytes that the fact itself (or, where an end is
 * known, the byte before it) shows. A rule that looked further would see something else in a line than in a needle cut
 * from it. Letters are folded in ASCII only; K and S have relatives beyond it (see `PageFlag.wideFold`).
 */

// Looked up once: in a vm context, where tests run, each look at a global costs as much as a line.
const { imul } = Math;

/** Raised when facts, their hashes or the layout change. 2: values of fields and of metadata are recorded too. */
export const FILTER_VERSION = 2;
/** Filters of this version hold the facts of values (value-terms.ts). */
export const VALUES_SINCE = 2;

/** A run with fewer letters and digits has no token; one with `prefixBytes` has a prefix instead. */
export const minTokenBytes = 4;
export const prefixBytes = 6;

/**
 * How many bits a fact sets, kept in its two lowest bits (as bits - 1). Samples are most of all facts and come several to
 * an id; tokens, prefixes and quads stand alone.
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

/** Of each byte: itself, ASCII letters in lower case, and its class. Bytes above ASCII are neither letters nor digits. */
export const symbolOf = Uint16Array.from({ length: 256 }, (_, byte) => {
  const folded = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
  if (folded >= 0x61 && folded <= 0x7a) return folded | letterBit;
  return folded >= 0x30 && folded <= 0x39 ? folded | digitBit : folded;
});

// An odd number with mixed bits; which one does not matter, that it never changes does.
const valueSeed = 0x2c1b3c6d;

/** Words that name and value were made to (value-terms.ts), to one whose bits all depend on all of theirs. */
export function valueFactOf(name: number, value: number): number {
  let h = imul(name ^ valueSeed, 0x9e3779b1);
  h = imul((h ^ (h >>> 15)) + value, 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (((h ^ (h >>> 16)) & ~kindMask) | FactKind.exact) >>> 0;
}

const thinningShift = 2;

/** True where a page whose terms were thinned so often records the fact at all: bits above its kind decide. */
export function isRecorded(fact: number, thinning: number): boolean {
  return ((fact >>> thinningShift) & ((1 << thinning) - 1)) === 0;
}
