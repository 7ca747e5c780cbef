/**
 * String literals of LogQL, which are Go's: `"..."` with escapes and raw strings in back quotes.
 *
 * What a reader would get wrong: a literal may name bytes that are no UTF-8 (`"\\xff"`). Such a byte b stands in the
 * text as the lone surrogate U+DC00+b (as Python's "surrogateescape" does), so that it prints back as it was written
 * and never equals a stored text. `quoteText` and `bytesOfText` know about it; a plain TextEncoder would make it
 * U+FFFD.
 */
import { quote } from '../model/quote.ts';

const ESCAPED_BYTE = /[\udc80-\udcff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
/** Digits and base of the escapes that name a byte or a code point. */
const NUMERIC: Record<string, { readonly digits: number; readonly byte: boolean }> = {
  x: { digits: 2, byte: true },
  u: { digits: 4, byte: false },
  U: { digits: 8, byte: false },
};

/** A scanned literal: where it ends, or what is wrong with it. */
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

/** The text that a scanned literal stands for; undefined where an escape names no byte or no code point. */
export function unquote(literal: string): string | undefined {
  const body = literal.slice(1, -1);
  if (literal[0] === '`') return body.replaceAll('\r', '');
  if (!body.includes('\\')) return body;
  let out = '';
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length > 0) out += textOfBytes(Uint8Array.from(bytes));
    bytes = [];
  };
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== '\\') {
      // Text between two named bytes ends a run: its own bytes can only start a sequence, never continue one.
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

/** UTF-8 where the bytes are that, and one lone surrogate for each byte that is not. */
function textOfBytes(bytes: Uint8Array): string {
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    const length = Math.min(sequenceLength(bytes[at]), bytes.length - at);
    let char: string | undefined;
    try {
      char = STRICT.decode(bytes.subarray(at, at + length));
    } catch {
      char = undefined;
    }
    out += char ?? String.fromCharCode(0xdc00 + bytes[at]);
    at += char === undefined ? 1 : length;
  }
  return out;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

/** The UTF-8 bytes of a text of the tree, with the bytes that `"\\xff"` names as they are. */
export function bytesOfText(text: string): Uint8Array {
  const encoder = new TextEncoder();
  if (!ESCAPED_BYTE.test(text) || !LONE_SURROGATE.test(text)) return encoder.encode(text);
  const parts: Uint8Array[] = [];
  for (const char of text) {
    const escaped = char.length === 1 && ESCAPED_BYTE.test(char);
    parts.push(escaped ? Uint8Array.of(char.charCodeAt(0) - 0xdc00) : encoder.encode(char));
  }
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** True where a text of the tree names bytes that are no UTF-8. */
export function namesBytes(text: string): boolean {
  return ESCAPED_BYTE.test(text) && LONE_SURROGATE.test(text);
}

/** The text in double quotes as Go's `strconv.Quote` writes it. */
export function quoteText(text: string): string {
  if (!namesBytes(text)) return quote(text);
  let out = '';
  let plain = '';
  for (const char of text) {
    if (char.length === 1 && ESCAPED_BYTE.test(char)) {
      out += `${quote(plain).slice(1, -1)}\\x${(char.charCodeAt(0) - 0xdc00).toString(16)}`;
      plain = '';
    } else plain += char;
  }
  return `"${out}${quote(plain).slice(1, -1)}"`;
}
