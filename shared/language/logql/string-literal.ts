/**
 * Reads string literals of LogQL, which are Go's: `"..."` with escapes and raw strings in back quotes. A
 * literal can denote bytes that are not UTF-8 (`"\\xff"`). The text stores them as described in
 * `byte-text.ts`, so that they print back as written.
 */
import { textOfBytes } from '../../base/model/byte-text.ts';

const SHORT: Record<string, string> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
/** Digits and kind of the escapes that denote a byte or a code point. */
const NUMERIC: Record<string, { readonly digits: number; readonly byte: boolean }> = {
  x: { digits: 2, byte: true },
  u: { digits: 4, byte: false },
  U: { digits: 8, byte: false },
};

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
    const mnemonic = text[++at];
    if (mnemonic === undefined) break;
    if (mnemonic === mark || SHORT[mnemonic] !== undefined) continue;
    const numeric = NUMERIC[mnemonic];
    const digits = numeric === undefined ? 3 : numeric.digits;
    const from = numeric === undefined ? at : at + 1;
    const pattern = numeric === undefined ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
    const value = text.slice(from, from + digits);
    if (value.length < digits || !pattern.test(value)) return { error: 'invalid char escape' };
    at = from + digits - 1;
  }
  return { error: 'literal not terminated' };
}

/** Finds the end of the raw literal that starts at `start`. */
export function scanRaw(text: string, start: number): Scanned {
  const end = text.indexOf('`', start + 1);
  return end < 0 ? { error: 'literal not terminated' } : { end: end + 1 };
}

/** Returns the text of a scanned literal, or undefined if an escape denotes no byte or code point. */
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
    const mnemonic = body[++at];
    const short = mnemonic === literal[0] ? mnemonic : SHORT[mnemonic];
    if (short !== undefined) {
      flush();
      out += short;
      continue;
    }
    const numeric = NUMERIC[mnemonic];
    const from = numeric === undefined ? at : at + 1;
    const digits = numeric === undefined ? 3 : numeric.digits;
    const value = Number.parseInt(body.slice(from, from + digits), numeric === undefined ? 8 : 16);
    at = from + digits - 1;
    if (numeric === undefined || numeric.byte) {
      if (value > 0xff) return undefined;
      bytes.push(value);
      continue;
    }
    if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return undefined;
    flush();
    out += String.fromCodePoint(value);
  }
  flush();
  return out;
}
