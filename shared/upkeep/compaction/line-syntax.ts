/**
 * The syntax of the lines of a stream. It decides with which other streams a stream shares pages.
 *
 * Fields of a page are columns of its split lines if all of its lines have one syntax
 * (docs/dev/format.md#48-fields-of-split-lines). In a page with several, they are separate columns. These take more memory and
 * CPU to read, so such a page would have to be encoded again when other rows of its streams come.
 */

/** Syntaxes that share no page. */
export const LINE_SYNTAXES = ['json', 'logfmt', 'text'] as const;
export type LineSyntax = (typeof LINE_SYNTAXES)[number];

const BRACE = 0x7b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const SPACE = 0x20;
/** Longer keys are no names of fields. */
const MAX_KEY_BYTES = 128;

/**
 * Returns the syntax of a line by its first word: a brace is JSON, a key with an equals sign is logfmt. It need not be right for
 * every line of a stream: it changes which rows share a page, and never what a row has.
 */
export function lineSyntax(bytes: Uint8Array, from: number, to: number): LineSyntax {
  let at = from;
  while (at < to && bytes[at] <= SPACE) at++;
  if (bytes[at] === BRACE && at < to) return 'json';
  const end = Math.min(to, at + MAX_KEY_BYTES);
  for (let i = at; i < end; i++) {
    const byte = bytes[i];
    if (byte === EQUALS) return i > at ? 'logfmt' : 'text';
    if (byte <= SPACE || byte === QUOTE) return 'text';
  }
  return 'text';
}
