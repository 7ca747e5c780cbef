/**
 * Go's `strconv.Quote`: the text form of strings in canonical LogQL, in label sets and in error messages.
 * Printable Unicode is preserved. Everything else is escaped, including bytes that are not UTF-8
 * (byte-text.ts).
 */
import { escapedByte } from './byte-text.ts';

const PLAIN = /^[ !#-[\]-~]*$/;
// Go prints letters, marks, numbers, punctuation and symbols of its Unicode tables, and the ASCII space.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
const SHORT: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** Returns the text in double quotes, escaped as in Go. */
export function quote(text: string): string {
  return `"${escapedContent(text)}"`;
}

/** Returns the text that `quote` writes between the quotes. */
export function escapedContent(text: string): string {
  if (PLAIN.test(text)) return text;
  let out = '';
  for (const char of text) {
    const short = SHORT[char];
    if (short !== undefined) {
      out += short;
      continue;
    }
    const code = char.codePointAt(0)!;
    if (code === 0x20 || PRINTABLE.test(char)) out += char;
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code >= 0xd800 && code <= 0xdfff) out += escapeOrReplacement(char);
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
    else out += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return out;
}

function escapeOrReplacement(char: string): string {
  const byte = escapedByte(char);
  return byte < 0 ? '\ufffd' : `\\x${byte.toString(16)}`;
}
