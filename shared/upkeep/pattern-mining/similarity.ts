/** Decides whether two lines, or two templates, of one structure are the same kind of event. */

/**
 * With up to this number of text words, two matching ones do not suffice: `cache hit` and `cache miss` stay
 * separate.
 */
const FEW_WORDS = 4;

/**
 * @param equal words of text that both share
 * @param text positions with a word of text in at least one of them. Values, such as numbers, do not count.
 */
export function isSimilar(equal: number, text: number): boolean {
  return text <= FEW_WORDS ? 2 * equal > text || text === 0 : 2 * equal >= text;
}
