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

export const emptyText: LiteralText = { text: '', wideFold: false };

/** Maximum characters of a set that are listed; a digit has ten. */
const maxSpelled = 8;
const longS = 0x17f;
const kelvin = 0x212a;
const replacement = 0xfffd;

/**
 * Returns one text for each character of the set; undefined if there are many, or if one of them has no
 * bytes.
 */
export function textsOfSet(set: CharSet): LiteralText[] | undefined {
  // Each listed character may have two cases and a relative.
  if (size(set) > 3 * maxSpelled) return undefined;
  const codes: number[] = [];
  for (let i = 0; i < set.length; i += 2) {
    for (let code = set[i]; code <= set[i + 1]; code++) codes.push(code);
  }
  // An invalid byte reads as U+FFFD, and half a surrogate pair has no bytes.
  if (codes.some(code => code === replacement || (code >= 0xd800 && code <= 0xdfff))) return undefined;
  const letters = new Set(codes.map(lowerOf));
  const relatives = new Set<number>();
  if (letters.has(letterS) && letters.delete(longS)) relatives.add(letterS);
  if (letters.has(letterK) && letters.delete(kelvin)) relatives.add(letterK);
  if (letters.size > maxSpelled) return undefined;
  return [...letters].map(code => ({ text: String.fromCodePoint(code), wideFold: relatives.has(code) }));
}

const letterS = 0x73;
const letterK = 0x6b;

function lowerOf(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 32 : code;
}

/** Returns every head followed by every tail. */
export function joinTexts(heads: readonly LiteralText[], tails: readonly LiteralText[]): LiteralText[] {
  return heads.flatMap(head =>
    tails.map(tail => ({ text: head.text + tail.text, wideFold: head.wideFold || tail.wideFold })),
  );
}
