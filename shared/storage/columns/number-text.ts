/**
 * Splits number texts: a value such as `200`, `-1.50` or `12.345ms` is a whole number of digits, a number of
 * decimals, and a unit. Only texts that these three restore byte for byte count as numbers. `007`, `+1`, `-0`
 * and `1e400` with its long exponent remain texts.
 */
import { MAX_DIGITS, MAX_SHAPES, MAX_UNIT_BYTES } from './bounds.ts';

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Number of decimals, and the unit. */
export interface Shape {
  readonly places: number;
  readonly unit: Buffer;
}

/** Shapes of one column, numbered from 0, and the result of the latest `read`. */
export class ShapeTable {
  readonly shapes: Shape[] = [];
  /** Digits found by `read`, as a whole number with sign. */
  mantissa = 0;

  /**
   * Returns the shape number of `source[start..end)`, or -1 if it is not such a number or the table is full.
   */
  read(source: Uint8Array, start: number, end: number): number {
    let at = start;
    const isNegative = at < end && source[at] === MINUS;
    if (isNegative) at++;
    const whole = at;
    let mantissa = 0;
    let byte = 0;
    while (at < end && (byte = source[at]) >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      at++;
    }
    let digits = at - whole;
    if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && source[whole] === ZERO)) return -1;
    let places = 0;
    if (at < end && source[at] === DOT) {
      const dot = at++;
      while (at < end && (byte = source[at]) >= ZERO && byte <= NINE) {
        mantissa = mantissa * 10 + (byte - ZERO);
        at++;
      }
      places = at - dot - 1;
      digits += places;
      if (places === 0 || digits > MAX_DIGITS || (at < end && source[at] === DOT)) return -1;
    }
    if (isNegative && mantissa === 0) return -1;
    if (end - at > MAX_UNIT_BYTES) return -1;
    this.mantissa = isNegative ? -mantissa : mantissa;
    return this.#numberOf(places, source, at, end);
  }

  #numberOf(places: number, source: Uint8Array, start: number, end: number): number {
    const { shapes } = this;
    for (let i = 0; i < shapes.length; i++) {
      const { unit } = shapes[i];
      if (shapes[i].places !== places || unit.length !== end - start) continue;
      let j = 0;
      while (j < unit.length && unit[j] === source[start + j]) j++;
      if (j === unit.length) return i;
    }
    if (shapes.length === MAX_SHAPES) return -1;
    const unit = Buffer.from(source.subarray(start, end));
    // The parser would not show an invalid byte.
    if (unit.toString('utf8').includes('\ufffd')) return -1;
    return shapes.push({ places, unit }) - 1;
  }
}

/** Maximum bytes that `writeNumber` writes: sign, digits, a leading zero, dot, unit. */
export const MAX_NUMBER_BYTES = MAX_DIGITS + 3 + MAX_UNIT_BYTES;

/** Writes the text of a number at `at`. Returns the offset after it. */
export function writeNumber(
  target: Uint8Array,
  at: number,
  mantissa: number,
  { places, unit }: Shape,
): number {
  let rest = mantissa;
  let start = at;
  if (rest < 0) {
    target[start++] = MINUS;
    rest = -rest;
  }
  let size = 1;
  for (let power = 10; power <= rest; power *= 10) size++;
  if (size <= places) size = places + 1;
  const end = start + size + (places > 0 ? 1 : 0);
  let cursor = end;
  for (let i = 0; i < size; i++) {
    if (places > 0 && i === places) target[--cursor] = DOT;
    const next = Math.floor(rest / 10);
    target[--cursor] = ZERO + (rest - next * 10);
    rest = next;
  }
  let out = end;
  for (let i = 0; i < unit.length; i++) target[out++] = unit[i];
  return out;
}

const POWERS_OF_TEN = Float64Array.from({ length: MAX_DIGITS + 1 }, (_, i) => 10 ** i);

/**
 * Returns the number without its unit. Both parts are exact, so the division rounds as parsing the text does.
 */
export function valueOfNumber(mantissa: number, places: number): number {
  return mantissa / POWERS_OF_TEN[places];
}

/** Inverse of `valueOfNumber`. The two roundings together are off by less than a quarter, because a mantissa is below 10^15. */
export function mantissaOfNumber(value: number, places: number): number {
  return places === 0 ? value : Math.round(value * POWERS_OF_TEN[places]);
}
