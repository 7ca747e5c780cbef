/**
 * Makes text from clients safe to show. Terminals obey control characters, and terminals and browsers obey
 * characters that change the text direction. Both could disguise a line as something else. Such characters
 * are shown as `\x1b` or `\u202e`, a form that is also valid in JSON text.
 */

/**
 * Control characters (C0, DEL, C1), direction marks, embeddings, overrides and isolates, and separators that
 * some terminals treat as a line break.
 */
const OBEYED = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Characters of OBEYED except line breaks and tabs. A carriage return at the end of a line moves nothing. */
const OBEYED_IN_LINES =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n|$)/g;
const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const FIRST_BEYOND_C0 = 0x20;

/** Returns the text on one line, without characters that a terminal or browser obeys. */
export function visible(text: string): string {
  return text.replace(OBEYED, named);
}

/** Works as `visible`, but preserves line breaks and tabs, for text such as stack traces. */
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
