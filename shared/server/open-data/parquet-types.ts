/** Types of columns for the values of fields, by their text. */

import { MAX_INT64 } from '../../base/model/int64.ts';

export type ParquetType = 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'STRING';

const NUMBER = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?$/;
const [MINUS, POINT, ZERO, NINE, LETTER_T, LETTER_F] = Buffer.from('-.09tf');
/** Numbers with more digits can exceed 64 bits. */
const MAX_CERTAIN_DIGITS = 18;
const MAX_DIGITS = 19;
/** Longer texts are not numbers. */
const MAX_NUMBER_BYTES = 48;

/** Type of a value. Returns undefined for an empty text. */
export function parquetTypeOf(bytes: Buffer, start: number, end: number): ParquetType | undefined {
  if (start === end) return undefined;
  const first = bytes[start];
  if (first === LETTER_T) return isText(bytes, start, end, 'true') ? 'BOOLEAN' : 'STRING';
  if (first === LETTER_F) return isText(bytes, start, end, 'false') ? 'BOOLEAN' : 'STRING';
  if (first !== MINUS && (first < ZERO || first > NINE)) return 'STRING';
  if (isInteger(bytes, start, end)) return 'INT64';
  if (isDecimal(bytes, start, end)) return 'DOUBLE';
  if (end - start > MAX_NUMBER_BYTES) return 'STRING';
  return NUMBER.test(bytes.toString('latin1', start, end)) ? 'DOUBLE' : 'STRING';
}

function isText(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** True for a whole number of 64 bits without leading zeros. */
function isInteger(bytes: Buffer, start: number, end: number): boolean {
  const from = bytes[start] === MINUS ? start + 1 : start;
  const digits = end - from;
  if (digits === 0 || digits > MAX_DIGITS || (bytes[from] === ZERO && digits > 1)) return false;
  for (let at = from; at < end; at++) if (bytes[at] < ZERO || bytes[at] > NINE) return false;
  if (digits <= MAX_CERTAIN_DIGITS) return true;
  return BigInt(bytes.toString('latin1', from, end)) <= MAX_INT64;
}

/** True for digits with a point, up to 15 characters. Other numbers have an exponent, or are long. */
function isDecimal(bytes: Buffer, start: number, end: number): boolean {
  const from = bytes[start] === MINUS ? start + 1 : start;
  if (end - start > MAX_EXACT_DIGITS) return false;
  let point = 0;
  for (let at = from; at < end; at++) {
    if (bytes[at] === POINT && point === 0) point = at;
    else if (bytes[at] < ZERO || bytes[at] > NINE) return false;
  }
  return point > from && point < end - 1 && (bytes[from] !== ZERO || point === from + 1);
}

/** Type for values of both types. */
export function commonType(a: ParquetType | undefined, b: ParquetType): ParquetType {
  if (a === undefined || a === b) return b;
  const areNumbers = [a, b].every(type => type === 'INT64' || type === 'DOUBLE');
  return areNumbers ? 'DOUBLE' : 'STRING';
}

/** Digits that are exact in a double. */
const MAX_EXACT_DIGITS = 15;
/** Digits of numbers that V8 adds as 32-bit integers, which is faster. */
const MAX_INT32_DIGITS = 9;
const WORD = 2 ** 32;

/** Number of a DOUBLE or INT64 value. */
export function typedNumber(bytes: Buffer, start: number, end: number): number {
  if (end - start > MAX_EXACT_DIGITS) return Number(bytes.toString('latin1', start, end));
  const isNegative = bytes[start] === MINUS;
  let digits = 0;
  // Digits and power of ten are exact, so their quotient is rounded once, as by `Number`.
  let power = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++) {
    const byte = bytes[at];
    if (byte === POINT) power = 1;
    else if (byte < ZERO || byte > NINE) return Number(bytes.toString('latin1', start, end));
    else {
      digits = 10 * digits + byte - ZERO;
      power *= 10;
    }
  }
  const value = power === 0 ? digits : digits / power;
  return isNegative ? -value : value;
}

/** Writes integers that are exact in a double into the words of a BigInt64Array. */
export function writeIntegers(words: Uint32Array, integers: Float64Array): void {
  for (let i = 0; i < integers.length; i++) {
    const value = integers[i];
    const high = Math.floor(value / WORD);
    words[2 * i] = value - high * WORD;
    words[2 * i + 1] = high;
  }
}

/** Writes an INT64 value into the words of a BigInt64Array: the lower one at `at`. */
export function writeInteger(
  words: Uint32Array,
  at: number,
  bytes: Buffer,
  start: number,
  end: number,
): void {
  const isNegative = bytes[start] === MINUS;
  const from = isNegative ? start + 1 : start;
  if (end - from > MAX_EXACT_DIGITS) {
    const value = BigInt.asUintN(64, BigInt(bytes.toString('latin1', start, end)));
    words[at] = Number(value & 0xffff_ffffn);
    words[at + 1] = Number(value >> 32n);
    return;
  }
  let value = 0;
  if (end - from <= MAX_INT32_DIGITS) {
    for (let i = from; i < end; i++) value = (10 * value + bytes[i] - ZERO) | 0;
    words[at] = isNegative ? -value : value;
    words[at + 1] = isNegative && value > 0 ? -1 : 0;
    return;
  }
  for (let i = from; i < end; i++) value = 10 * value + bytes[i] - ZERO;
  if (isNegative) value = -value;
  const high = Math.floor(value / WORD);
  words[at] = value - high * WORD;
  words[at + 1] = high;
}
