/**
 * Version of assembly/text-terms.ts and term-set.ts by the description in shared/execution/text-index/terms.ts:
 * rule by rule and byte by byte.
 */
const { imul } = Math;

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const fold = (byte: number) => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);
const isLetter = (byte: number) => fold(byte) >= 0x61 && fold(byte) <= 0x7a;
const DOT = 0x2e;

function termOf(a: number, b: number, seed: number, kind: number): number {
  let h = imul(a ^ seed, 0x9e3779b1);
  h = imul((h ^ (h >>> 15)) + b, 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  const term = (((h ^ (h >>> 16)) & ~3) | kind) >>> 0;
  return term === 0 ? 0x9e3779b2 : term;
}

export interface TextTerms {
  readonly terms: Set<number>;
  longestRun: number;
}

/** Adds the terms of a text whose ends are known or not. */
export function addTerms(
  text: Uint8Array,
  startIsKnown: boolean,
  endIsKnown: boolean,
  into: TextTerms,
): void {
  const { terms } = into;
  const at = (i: number) => fold(text[i]);
  const four = (i: number) => (at(i) << 24) | (at(i + 1) << 16) | (at(i + 2) << 8) | at(i + 3);
  const digitIn = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (isDigit(text[i])) return true;
    return false;
  };
  const isAllDigits = (from: number, to: number) => text.subarray(from, to).every(isDigit);

  for (let i = 0; i + 5 <= text.length; i++) {
    if (digitIn(i, i + 5)) continue;
    const gram = imul(four(i + 1) ^ imul(at(i), 0x9e3779b1), 0x2545f491) | 1;
    terms.add(termOf(gram, 0, 0x2545f491, 2));
  }

  for (let from = 0; from < text.length; from++) {
    let to = from;
    while (to < text.length && (isDigit(text[to]) || isLetter(text[to]))) to++;
    if (digitIn(from, to)) {
      into.longestRun = Math.max(into.longestRun, to - from);
      addToken(from, to);
      addSamples(from, to);
      addQuad(from, to);
    }
    from = to;
  }

  function addToken(from: number, to: number): void {
    const isFraction = from > 0 && text[from - 1] === DOT && isDigit(text[from]);
    if ((from === 0 && !startIsKnown) || isFraction) return;
    if (to - from >= 6) {
      if (digitIn(from, from + 6))
        terms.add(
          termOf(
            four(from),
            (at(from + 4) << 8) | at(from + 5),
            0x3c6ef372,
            isAllDigits(from, from + 6) ? 3 : 0,
          ),
        );
    } else if (to - from >= 4 && (endIsKnown || to < text.length)) {
      terms.add(termOf(four(from), to - from === 5 ? at(from + 4) : 0, 0x51ed270b, 0));
    }
  }

  /** Eight bytes with a digit; of their seven pairs none comes before both that at their start and that at their end. */
  function addSamples(from: number, to: number): void {
    const order = (i: number) => imul((at(i) << 8) | at(i + 1) | 0x10000, 0x9e3779b1) >>> 8;
    for (let i = from; i + 8 <= to; i++) {
      let least = order(i);
      for (let pair = i + 1; pair < i + 7; pair++) least = Math.min(least, order(pair));
      if (digitIn(i, i + 8) && (order(i) === least || order(i + 6) === least))
        terms.add(termOf(four(i), four(i + 4), 0x7feb352d, 1));
    }
  }

  /** The second of two numbers of up to three digits, each between dots. */
  function addQuad(from: number, to: number): void {
    const isNumber = (a: number, b: number) => a < b && b - a <= 3 && isAllDigits(a, b);
    if (!isNumber(from, to) || text[to] !== DOT || text[from - 1] !== DOT) return;
    const before = text.lastIndexOf(DOT, from - 2);
    if (from < 2 || before < 0 || !isNumber(before + 1, from - 1)) return;
    const number = (a: number, b: number) => text.subarray(a, b).reduce((n, byte) => (n << 8) | byte, b - a);
    terms.add(termOf(number(before + 1, from - 1), number(from, to), 0x1b873593, 3));
  }
}

/**
 * The terms that a set of 65,536 keeps, and how often it is thinned; undefined if seven times leave too many.
 */
export function thinned(terms: ReadonlySet<number>): { kept: number[]; thinning: number } | undefined {
  for (let thinning = 0; thinning <= 7; thinning++) {
    const kept = [...terms].filter(term => ((term >>> 2) & ((1 << thinning) - 1)) === 0);
    if (kept.length <= 65_536) return { kept, thinning };
  }
  return undefined;
}
