/**
 * Escapes text for HTML, JavaScript and URL queries, as the built-in functions and `urlencode`/`urldecode`
 * do.
 */
import { bytesOfText, escapedByte, textOfBytes } from '../../../base/model/byte-text.ts';
import { quote } from '../../../base/model/quote.ts';
import { CallError } from './error.ts';

const HTML = new Map([
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\0', '\ufffd'],
]);

export function escapeHtml(text: string): string {
  return text.replace(/["'&<>\0]/g, char => HTML.get(char)!);
}

const JS = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['"', '\\"'],
  ['<', '\\u003C'],
  ['>', '\\u003E'],
  ['&', '\\u0026'],
  ['=', '\\u003D'],
]);

export function escapeJs(text: string): string {
  return text.replace(/[\\'"<>&=\0-\x1f]|[^\0-\x7f]/gu, char => {
    const known = JS.get(char);
    if (known !== undefined) return known;
    if (escapedByte(char) >= 0) return char;
    // Characters that quoting leaves unchanged are printable.
    if (char > '\x7f' && quote(char) === `"${char}"`) return char;
    return `\\u${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/**
 * Escapes a URL query: a space becomes `+`, and everything except letters, digits and `-_.~` becomes bytes
 * `%XX`.
 */
export function escapeQuery(text: string): string {
  const encoded = text.isWellFormed() ? encodeURIComponent(text) : Array.from(text, encodeCharacter).join('');
  return encoded
    .replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

function encodeCharacter(char: string): string {
  const byte = escapedByte(char);
  return byte < 0 ? encodeURIComponent(char.toWellFormed()) : `%${byte.toString(16).toUpperCase()}`;
}

/** Reverses `escapeQuery`. Throws CallError (`invalid URL escape "%zz"`). */
export function unescapeQuery(text: string): string {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/su.exec(text);
  if (bad !== null) throw new CallError(`invalid URL escape ${quote(bad[0])}`);
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  const parts = spaced.split(/((?:%[0-9a-fA-F]{2})+)/);
  return textOfBytes(
    Buffer.concat(
      parts.map((part, i) =>
        i % 2 === 1 ? Buffer.from(part.replaceAll('%', ''), 'hex') : bytesOfText(part),
      ),
    ),
  );
}
