/**
 * Lenient casts of the number functions: any value becomes a number, and unreadable values become 0. Texts
 * have Go's base prefixes, so `"012"` is 10, and `"08"`, an invalid octal number, is 0.
 */
import { MAX_INT64, MIN_INT64 } from '../../../base/model/int64.ts';
import { parseGoFloat } from '../../../base/model/number.ts';
import { GoInt, type Value } from './values.ts';

const INTEGER =
  /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)$/;
const DECIMAL_FRACTION = /^([+-]?\d*)(?:\.\d*)?$/;
/** Maximum digits. No 64-bit number needs more, and BigInt of a long text is slow. */
const MAX_DIGITS = 80;

/**
 * Works as Go's ParseInt with base 0, without its range check. Returns undefined if the text is not an
 * integer.
 */
export function parseGoInt(text: string): bigint | undefined {
  if (text.length > MAX_DIGITS) return undefined;
  const match = INTEGER.exec(text);
  if (match === null) return undefined;
  let digits = match[2].replaceAll('_', '');
  if (/^0[0-7]/.test(digits)) digits = `0o${digits.slice(1)}`;
  const value = BigInt(digits);
  return match[1] === '-' ? -value : value;
}

export function toInt64(value: Value): bigint {
  if (value instanceof GoInt) return value.value;
  if (typeof value === 'string') return textToInt64(value);
  if (typeof value === 'number') return floatToInt64(value);
  return value === true ? 1n : 0n;
}

function textToInt64(text: string): bigint {
  const fraction = DECIMAL_FRACTION.exec(text);
  const whole = fraction === null ? text : fraction[1];
  const parsed = parseGoInt(whole) ?? 0n;
  return parsed > MAX_INT64 || parsed < MIN_INT64 ? 0n : parsed;
}

/** Truncates. A value out of range becomes the lowest int64, as on the reference's processor. */
function floatToInt64(value: number): bigint {
  return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : MIN_INT64;
}

export function toFloat64(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    const parsed = parseGoFloat(value);
    if (parsed === undefined) return 0;
    // A value out of range is an error in Go, hence 0; an explicit infinity is not.
    return Number.isFinite(parsed) || !/\d/.test(value) ? parsed : 0;
  }
  if (value instanceof GoInt) return Number(value.value);
  return value === true ? 1 : 0;
}
