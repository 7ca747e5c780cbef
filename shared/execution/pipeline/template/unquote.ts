/**
 * Reads string and character constants of a template as Go does. `\xHH` and octal escapes denote bytes, which
 * need not be UTF-8 individually: a constant is first assembled as bytes.
 */
import { bytesOfText, textOfBytes } from '../../../base/model/byte-text.ts';

const SHORT = new Map<string, number>([
  ['a', 7],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['\\', 92],
]);
const ESCAPE = /\\(?:([abfnrtv\\])|(['"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;

/** Returns the value of a quoted constant, `"..."` or `` `...` ``. Throws `invalid syntax` as Go does. */
export function unquote(source: string): string {
  if (source[0] === '`') return source.slice(1, -1).replaceAll('\r', '');
  const inner = source.slice(1, -1);
  if (!inner.includes('\\')) return inner;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < inner.length; ) {
    const found = inner[at] === '\\' ? readEscape(inner, at, '"') : undefined;
    if (found !== undefined) {
      parts.push(found.isByte ? Uint8Array.of(found.code) : Buffer.from(String.fromCodePoint(found.code)));
      at = found.end;
      continue;
    }
    let end = inner.indexOf('\\', at);
    if (end < 0) end = inner.length;
    parts.push(bytesOfText(inner.slice(at, end)));
    at = end;
  }
  return textOfBytes(Buffer.concat(parts));
}

/** Returns the code point of `'a'`. Throws if it is not exactly one character. */
export function unquoteCharacter(source: string): number {
  const inner = source.slice(1, -1);
  const malformed = () => new Error(`malformed character constant: ${source}`);
  if (inner === '') throw new Error('invalid syntax');
  if (inner[0] === '\\') {
    const found = readEscape(inner, 0, "'");
    if (found.end !== inner.length) throw malformed();
    return found.code;
  }
  const code = inner.codePointAt(0)!;
  if (inner.length !== (code > 0xffff ? 2 : 1)) throw malformed();
  return code;
}

function readEscape(text: string, at: number, mark: string): { code: number; isByte: boolean; end: number } {
  ESCAPE.lastIndex = at;
  const match = ESCAPE.exec(text);
  if (match === null) throw new Error('invalid syntax');
  const end = ESCAPE.lastIndex;
  const [, short, quoteMark, hex, unicode4, unicode8, octal] = match;
  if (short !== undefined) return { code: SHORT.get(short)!, isByte: false, end };
  if (quoteMark !== undefined) {
    if (quoteMark !== mark) throw new Error('invalid syntax');
    return { code: quoteMark.charCodeAt(0), isByte: false, end };
  }
  if (hex !== undefined) return { code: Number.parseInt(hex, 16), isByte: true, end };
  if (octal !== undefined) {
    const code = Number.parseInt(octal, 8);
    if (code > 255) throw new Error('invalid syntax');
    return { code, isByte: true, end };
  }
  const code = Number.parseInt(unicode4 ?? unicode8, 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('invalid syntax');
  return { code, isByte: false, end };
}
