/** Prices and numbers in the format of the cost pages. */
import { LIST_PRICES } from '../../../shared/server/admin/prices.ts';

export const MILLION = 1_000_000;
export const DAYS_OF_MONTH = 30;
export const MINUTES_OF_MONTH = DAYS_OF_MONTH * 24 * 60;

export const price = (name: keyof typeof LIST_PRICES) => LIST_PRICES[name].price;

/** Dollars of `units` whose price is per million. */
export const millionth = (units: number, name: keyof typeof LIST_PRICES) => (units * price(name)) / MILLION;

/** Dollars of `seconds` of a function with this memory. */
export function functionSeconds(seconds: number, memoryMb: number): number {
  return seconds * (memoryMb / 1024) * price('functionGbSecond');
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Two significant digits without an exponent. */
export function twoDigits(value: number): string {
  return round(Number(value.toPrecision(2)));
}

/** Whole dollars from 10. */
export function money(value: number): string {
  return value >= 10 ? whole(value) : value.toFixed(2);
}

/** Whole dollars from 100. */
export function exact(value: number): string {
  return value >= 100 ? whole(value) : value.toFixed(2);
}

/** Whole number from 100, one decimal from 1, two significant digits below. */
export function rate(value: number): string {
  if (value >= 10) return whole(value);
  return value >= 1 ? round(Number(value.toFixed(1))) : round(Number(value.toPrecision(1)));
}

function round(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 21 });
}
