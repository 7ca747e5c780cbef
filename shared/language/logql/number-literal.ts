/**
 * Scans number tokens as Go writes them: decimal, `0x`, `0o` or a leading zero, `0b`, `_` between digits,
 * fractions and exponents. This module decides only the extent and the form. Later steps compute the value,
 * which only decimal texts and hexadecimal ones with an exponent have (docs/dev/logql-semantics.md#numbers-and-durations).
 */
import { quote } from '../../base/model/quote.ts';
import type { Scanned } from './string-literal.ts';

const DECIMAL = /[0-9_]*/y;
const HEX = /[0-9a-fA-F_]*/y;
/** The dot begins a fraction even without following digits (`5.`). */
const EXPONENT_SIGN = /[+-]?/y;

function run(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)![0];
}

/** Finds the end of the number at `start`, which is a digit, or a dot before a digit. */
export function scanNumber(text: string, start: number): Scanned {
  const prefix = text[start] === '0' ? (text[start + 1] ?? '').toLowerCase() : '';
  const hex = prefix === 'x';
  const based = hex || prefix === 'o' || prefix === 'b';
  const digits = hex ? HEX : DECIMAL;
  let at = based ? start + 2 : start;
  const whole = run(digits, text, at);
  at += whole.length;
  let fraction: string | undefined;
  if (text[at] === '.') {
    if (based && !hex) return { error: `invalid radix point in ${literalName(text, start)}` };
    fraction = run(digits, text, at + 1);
    at += 1 + fraction.length;
  }
  if (!/[0-9a-fA-F]/.test(whole + (fraction ?? '')))
    return { error: `${literalName(text, start)} has no digits` };
  const mark = (text[at] ?? '').toLowerCase();
  // The exponent `p` belongs only to a hexadecimal mantissa: `1PB` is a size.
  const exponent = mark === (hex ? 'p' : 'e') && (hex || !based);
  if (exponent) {
    at += 1 + run(EXPONENT_SIGN, text, at + 1).length;
    const power = run(DECIMAL, text, at);
    if (!/[0-9]/.test(power)) return { error: 'exponent has no digits' };
    at += power.length;
  } else if (hex && fraction !== undefined) return { error: "hexadecimal mantissa requires a 'p' exponent" };
  const integer = fraction === undefined && !exponent;
  const wrong = integer ? wrongDigit(text, start, whole) : undefined;
  if (wrong !== undefined) return { error: `invalid digit '${wrong}' in ${literalName(text, start)}` };
  if (misplacedSeparator(text.slice(start, at))) return { error: "'_' must separate successive digits" };
  return { end: at };
}

function wrongDigit(text: string, start: number, digits: string): string | undefined {
  const name = literalName(text, start);
  if (name === 'octal literal') return /[89]/.exec(digits)?.[0];
  return name === 'binary literal' ? /[2-9]/.exec(digits)?.[0] : undefined;
}

function literalName(text: string, start: number): string {
  const prefix = text[start] === '0' ? (text[start + 1] ?? '').toLowerCase() : '';
  if (prefix === 'x') return 'hexadecimal literal';
  if (prefix === 'b') return /[0-9_]/.test(text[start + 2] ?? '') ? 'binary literal' : 'decimal literal';
  return prefix === 'o' || /[0-9_]/.test(prefix) ? 'octal literal' : 'decimal literal';
}

function misplacedSeparator(token: string): boolean {
  if (!token.includes('_')) return false;
  const digits = token.replace(/^0[xXoObB]/, '0');
  return !/^[0-9a-fA-F]+(_[0-9a-fA-F]+)*(\.([0-9a-fA-F]+(_[0-9a-fA-F]+)*)?)?([eEpP][+-]?[0-9]+(_[0-9]+)*)?$/.test(
    digits,
  );
}

/** Returns Go's error text for a well-formed number that is too large. */
export function outOfRange(text: string): string {
  return `strconv.ParseFloat: parsing ${quote(text)}: value out of range`;
}
