/**
 * Decimal arithmetic of `addf` and related functions: each float64 counts as its shortest decimal text, so
 * 0.1 + 0.2 is 0.3. A quotient has 16 decimals, rounded half away from zero.
 */
import { MAX_DECIMAL_DIGITS } from './bounds.ts';
import { CallError } from './error.ts';

/** Value `coefficient * 10^exponent`. */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

type DecimalOperation = (a: Decimal, b: Decimal) => Decimal;

const DIVISION_PLACES = 16;
/** Bits per decimal digit, rounded up. */
const BITS_PER_DIGIT = 3.33;
const MAX_COEFFICIENT = 1n << BigInt(Math.ceil(MAX_DECIMAL_DIGITS * BITS_PER_DIGIT));

/**
 * Applies the operation from left to right. Throws CallError for a value that is not a number, or a division
 * by 0.
 */
export function foldDecimals(first: number, others: readonly number[], operation: DecimalOperation): number {
  let total = fromFloat(first);
  for (const other of others) total = bounded(operation(total, fromFloat(other)));
  return Number(`${total.coefficient}e${total.exponent}`);
}

function fromFloat(value: number): Decimal {
  if (!Number.isFinite(value)) {
    const text = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new CallError(`Cannot create a Decimal from ${text}`);
  }
  const [mantissa, exponent] = value.toExponential().split('e');
  const point = mantissa.indexOf('.');
  const places = point < 0 ? 0 : mantissa.length - point - 1;
  return { coefficient: BigInt(mantissa.replace('.', '')), exponent: Number(exponent) - places };
}

function bounded(value: Decimal): Decimal {
  const { coefficient, exponent } = value;
  const size = coefficient < 0n ? -coefficient : coefficient;
  if (size > MAX_COEFFICIENT || Math.abs(exponent) > MAX_DECIMAL_DIGITS) {
    throw new CallError(`decimal with more than ${MAX_DECIMAL_DIGITS} digits`);
  }
  return value;
}

function scaled(value: Decimal, exponent: number): bigint {
  return value.coefficient * 10n ** BigInt(value.exponent - exponent);
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return { coefficient: scaled(a, exponent) + scaled(b, exponent), exponent };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return addDecimals(a, { coefficient: -b.coefficient, exponent: b.exponent });
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { coefficient: a.coefficient * b.coefficient, exponent: a.exponent + b.exponent };
}

export function divide(a: Decimal, b: Decimal): Decimal {
  if (b.coefficient === 0n) throw new CallError('decimal division by 0');
  const shift = a.exponent - b.exponent + DIVISION_PLACES;
  const dividend = shift > 0 ? a.coefficient * 10n ** BigInt(shift) : a.coefficient;
  const divisor = shift < 0 ? b.coefficient * 10n ** BigInt(-shift) : b.coefficient;
  const quotient = dividend / divisor;
  const rest = dividend % divisor;
  const half = 2n * (rest < 0n ? -rest : rest) >= (divisor < 0n ? -divisor : divisor);
  const away = dividend < 0n === divisor < 0n ? 1n : -1n;
  return { coefficient: half ? quotient + away : quotient, exponent: -DIVISION_PLACES };
}
