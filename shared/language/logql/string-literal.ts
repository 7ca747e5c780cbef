/**
 * Reads string literals of LogQL, which are Go's: `"..."` with escapes and raw strings in back quotes. A
 * literal can denote bytes that are not UTF-8 (`"\\xff"`). The text stores them as described in
 * `byte-text.ts`, so that they print back as written.
 */
import { textOfBytes } from '../../base/model/byte-text.ts';

const SHORT = new Map([...'abfnrtv\\'].map((letter, i) => [letter, '\u0007\b\f\n\r\t\v\\'.charCodeAt(i)]));
const ESCAPE = /\\(?:([abfnrtv\\])|(['"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;

interface Escape {
  readonly end: number;
  /** Byte or code point; undefined if the number denotes none. */
  readonly code: number | undefined;
  readonly isByte: boolean;
}

/** Reads the escape at a backslash inside quotes `mark`. Returns undefined if it is malformed. */
export function readEscape(text: string, at: number, mark: string): Escape | undefined {
  ESCAPE.lastIndex = at;
  const match = ESCAPE.exec(text);
  if (match === null) return undefined;
  const end = ESCAPE.lastIndex;
  const [, short, quote, hex, unicode4, unicode8, octal] = match;
  if (short !== undefined) return { end, code: SHORT.get(short), isByte: false };
  if (quote !== undefined)
    return quote === mark ? { end, code: quote.charCodeAt(0), isByte: false } : undefined;
  const isByte = hex !== undefined || octal !== undefined;
  const code = Number.parseInt(hex ?? octal ?? unicode4 ?? unicode8, octal === undefined ? 16 : 8);
  const isValid = isByte ? code <= 0xff : code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return { end, code: isValid ? code : undefined, isByte };
}

/** Scanned literal: its end, or its error. */
export type Scanned = { readonly end: number; readonly error?: undefined } | { readonly error: string };

/** Finds the end of the quoted literal that starts at `start` (any quote character). */
export function scanQuoted(text: string, start: number): Scanned {
  const mark = text[start];
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at];
    if (char === mark) return { end: at + 1 };
    if (char === '\n') break;
    if (char !== '\\') continue;
    if (at + 1 === text.length) break;
    const found = readEscape(text, at, mark);
    if (found === undefined) return { error: 'invalid char escape' };
    at = found.end - 1;
  }
  return { error: 'literal not terminated' };
}

/** Finds the end of the raw literal that starts at `start`. */
export function scanRaw(text: string, start: number): Scanned {
  const end = text.indexOf('`', start + 1);
  return end < 0 ? { error: 'literal not terminated' } : { end: end + 1 };
}

/** Returns the text of a literal, or undefined if it has an invalid escape. */
export function unquote(literal: string): string | undefined {
  const body = literal.slice(1, -1);
  if (literal[0] === '`') return body.replaceAll('\r', '');
  if (!body.includes('\\')) return body;
  let out = '';
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length > 0) out += textOfBytes(Buffer.from(bytes));
    bytes = [];
  };
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== '\\') {
      // Text between two escaped bytes ends a run: its bytes can only start a sequence, never continue one.
      flush();
      out += body[at];
      continue;
    }
    const found = readEscape(body, at, literal[0]);
    if (found?.code === undefined) return undefined;
    at = found.end - 1;
    if (found.isByte) {
      bytes.push(found.code);
      continue;
    }
    flush();
    out += String.fromCodePoint(found.code);
  }
  flush();
  return out;
}
