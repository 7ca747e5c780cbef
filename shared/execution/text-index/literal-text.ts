/**
 * Texts that a part of a regular expression can match, as bytes of the line. Filters fold the case of ASCII
 * letters, so `[aA]` is one text. Relatives of k and s outside ASCII are recorded as a flag instead of as
 * separate texts.
 */
import type { CharSet } from '../../language/regex/char-set.ts';
import { size } from '../../language/regex/char-set.ts';

export interface LiteralText {
  readonly text: string;
  /** Whether a k or s may also be KELVIN SIGN or LATIN SMALL LETTER LONG S in the line. */
  readonly wideFold: boolean;
}

export const EMPTY_TEXT: LiteralText = { text: '', wideFold: false };

/** Maximum characters of a set that are listed; a digit has ten. */
const MAX_SPELLED = 8;
const LONG_S = 0x17f;
const KELVIN = 0x212a;
const REPLACEMENT = 0xfffd;

/**
 * Returns one text for each character of the set; undefined if there are many, or if one of them has no
 * bytes.
 */
export function textsOfSet(set: CharSet): LiteralText[] | undefined {
  // Each listed character may have two cases and a relative.
  if (size(set) > 3 * MAX_SPELLED) return undefined;
  const codes: number[] = [];
  for (let i = 0; i < set.length; i += 2) {
    for (let code = set[i]; code <= set[i + 1]; code++) codes.push(code);
  }
  // An invalid byte reads as U+FFFD, and half a surrogate pair has no bytes.
  if (codes.some(code => code === REPLACEMENT || (code >= 0xd800 && code <= 0xdfff))) return undefined;
  const letters = new Set(codes.map(lowerOf));
  const relatives = new Set<number>();
  if (letters.has(LETTER_S) && letters.delete(LONG_S)) relatives.add(LETTER_S);
  if (letters.has(LETTER_K) && letters.delete(KELVIN)) relatives.add(LETTER_K);
  if (letters.size > MAX_SPELLED) return undefined;
  return [...letters].map(code => ({ text: String.fromCodePoint(code), wideFold: relatives.has(code) }));
}

const LETTER_S = 0x73;
const LETTER_K = 0x6b;

function lowerOf(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 32 : code;
}

/** Returns every head followed by every tail. */
export function joinTexts(heads: readonly LiteralText[], tails: readonly LiteralText[]): LiteralText[] {
  return heads.flatMap(head =>
    tails.map(tail => ({ text: head.text + tail.text, wideFold: head.wideFold || tail.wideFold })),
  );
}
