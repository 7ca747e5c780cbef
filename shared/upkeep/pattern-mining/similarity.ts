/** When two lines, or two templates, of one structure are taken for the same kind of event. */

/** With so few words of text two of them say little: `cache hit` and `cache miss` stay apart. */
const FEW_WORDS = 4;

/**
 * @param equal words of text that both have
 * @param text places where one of them has a word of text. Values, such as numbers, say nothing.
 */
export function isSimilar(equal: number, text: number): boolean {
  return text <= FEW_WORDS ? 2 * equal > text || text === 0 : 2 * equal >= text;
}
