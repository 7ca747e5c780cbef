/**
 * Text from clients as a person may be shown it. A terminal obeys control characters, and terminals and browsers alike obey
 * the characters that turn the direction of what follows: both could make a line look like something else. They are shown by name
 * instead, `\x1b` or `\u202e`, the second form so that JSON text stays JSON.
 */

/** C0, DEL and C1; marks, embeddings, overrides and isolates of direction; separators that some terminals take for a line break. */
const OBEYED = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The same without line breaks and tabs. A carriage return that ends a line moves nothing. */
const OBEYED_IN_LINES =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n|$)/g;
const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const FIRST_BEYOND_C0 = 0x20;

/** On one line, and nothing that a terminal or a browser obeys. */
export function visible(text: string): string {
  return text.replace(OBEYED, named);
}

/** As `visible`, but line breaks and tabs stay: for text of several lines, stack traces for example. */
export function visibleLines(text: string): string {
  return text.replace(OBEYED_IN_LINES, named);
}

function named(character: string): string {
  const code = character.charCodeAt(0);
  const short = SHORT[character];
  if (short !== undefined) return short;
  const hex = code.toString(16);
  return code < FIRST_BEYOND_C0 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
