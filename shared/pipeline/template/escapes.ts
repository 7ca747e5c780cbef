/** Escaping for HTML, JavaScript and URL queries, as the built-ins and `urlencode`/`urldecode` do it. */
import { quote } from '../../model/quote.ts';
import { bytesToText } from './byte-text.ts';
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
    // Printable characters are what quoting leaves alone.
    if (char > '\x7f' && quote(char) === `"${char}"`) return char;
    return `\\u${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** Query escaping: a space becomes `+`, everything but letters, digits and `-_.~` is a byte `%XX`. */
export function escapeQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** Throws CallError (`invalid URL escape "%zz"`). */
export function unescapeQuery(text: string): string {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/su.exec(text);
  if (bad !== null) throw new CallError(`invalid URL escape ${quote(bad[0])}`);
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  const parts = spaced.split(/((?:%[0-9a-fA-F]{2})+)/);
  return bytesToText(
    Buffer.concat(
      parts.map((part, i) =>
        Buffer.from(i % 2 === 1 ? part.replaceAll('%', '') : part, i % 2 === 1 ? 'hex' : 'utf8'),
      ),
    ),
  );
}
