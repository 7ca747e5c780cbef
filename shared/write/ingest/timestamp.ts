/**
 * Times of pushes as stored in columns: a UTC day and nanoseconds within it, both exact as numbers. Parsers
 * write into a `Timestamp` that the caller reuses, so that an entry costs no object and no bigint.
 */
import { NS_OF_DAY, NS_OF_SECOND, SECONDS_PER_DAY } from '../../base/model/time-units.ts';

export interface Timestamp {
  /** UTC day since 1970-01-01. */
  day: number;
  /** Nanoseconds, 0 <= x < NS_OF_DAY. */
  timeOfDay: number;
}

/** 2^63 ns, as seconds and the remaining nanoseconds. */
const INT64_SECONDS = 9_223_372_036;
const INT64_NANOS = 854_775_807;
/** Digits of a current time in nanoseconds. */
export const USUAL_DIGITS = 19;

type ParseResult = 'ok' | 'malformed' | 'overflow';

/** Sets a time from seconds (any whole number below 2^53) and nanoseconds (0 <= x < 10^9) since 1970. */
export function setSeconds(into: Timestamp, seconds: number, nanos: number): void {
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  into.day = day;
  into.timeOfDay = (seconds - day * SECONDS_PER_DAY) * NS_OF_SECOND + nanos;
}

/** Parses a base-10 int64 of nanoseconds since 1970 in `bytes[start, end)`. A leading `-` is allowed. */
export function parseNanoseconds(
  into: Timestamp,
  bytes: Uint8Array,
  start: number,
  end: number,
): ParseResult {
  if (end - start === USUAL_DIGITS && setUsual(into, bytes, start)) return 'ok';
  let at = start;
  const negative = bytes[at] === 0x2d;
  if (negative) at++;
  if (at >= end) return 'malformed';
  while (at < end - 1 && bytes[at] === 0x30) at++;
  const digits = end - at;
  const secondsEnd = end - 9;
  let seconds = 0;
  let nanos = 0;
  for (let i = at; i < end; i++) {
    const digit = bytes[i] - 0x30;
    if (digit < 0 || digit > 9) return 'malformed';
    if (i < secondsEnd) seconds = seconds * 10 + digit;
    else nanos = nanos * 10 + digit;
  }
  if (digits > 19) return 'overflow';
  if (seconds > INT64_SECONDS) return 'overflow';
  if (seconds === INT64_SECONDS && nanos > INT64_NANOS + (negative ? 1 : 0)) return 'overflow';
  if (!negative) setSeconds(into, seconds, nanos);
  else if (nanos === 0) setSeconds(into, -seconds, 0);
  else setSeconds(into, -seconds - 1, NS_OF_SECOND - nanos);
  return 'ok';
}

/** Parses times since September 2001 with 32-bit arithmetic. Returns false for other text. */
function setUsual(into: Timestamp, bytes: Uint8Array, start: number): boolean {
  const high = digitsOf(bytes, start, start + 5);
  const low = digitsOf(bytes, start + 5, start + 10);
  const nanos = digitsOf(bytes, start + 10, start + USUAL_DIGITS);
  const seconds = high * 100_000 + low;
  if ((high | low | nanos) < 0 || seconds >= INT64_SECONDS) return false;
  setSeconds(into, seconds, nanos);
  return true;
}

/** Returns at most nine digits as a number, or -1 if a byte is not a digit. */
function digitsOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i] - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = (value * 10 + digit) | 0;
  }
  return value;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|([+-])(\d\d):(\d\d))$/;

/**
 * Parses RFC 3339 with any number of fraction digits (those after the ninth are ignored). Returns false if it
 * is invalid.
 */
export function setRfc3339(into: Timestamp, text: string): boolean {
  const match = RFC3339.exec(text);
  if (match === null) return false;
  const [, year, month, dayOfMonth, hour, minute, second, fraction = '', , sign, offsetHour, offsetMinute] =
    match;
  const ms = Date.parse(`${year}-${month}-${dayOfMonth}T00:00:00Z`);
  // Date.parse turns February 30 into a day of March.
  if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(dayOfMonth)) return false;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return false;
  let seconds = ms / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  if (sign !== undefined) {
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return false;
    const offset = Number(offsetHour) * 3600 + Number(offsetMinute) * 60;
    seconds += sign === '+' ? -offset : offset;
  }
  setSeconds(into, seconds, Number(fraction.slice(0, 9).padEnd(9, '0')));
  return true;
}

/** Formats as RFC 3339 in seconds, as validation messages show times. Years 1 to 9999. */
export function formatRfc3339(day: number, timeOfDay: number): string {
  const ms = day * SECONDS_PER_DAY * 1000 + Math.floor(timeOfDay / 1e9) * 1000;
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Converts nanoseconds since 1970 to a Timestamp. */
export function timestampOf(ns: bigint): Timestamp {
  const dayNs = BigInt(NS_OF_DAY);
  let remainder = ns % dayNs;
  if (remainder < 0n) remainder += dayNs;
  return { day: Number((ns - remainder) / dayNs), timeOfDay: Number(remainder) };
}
