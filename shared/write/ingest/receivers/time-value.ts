/**
 * Reads times of documents and log lines: dates of ISO 8601 and RFC 3339 in the forms that agents send, and
 * Unix times. The size of a Unix time decides between seconds, milliseconds, microseconds and nanoseconds.
 *
 * A date without a zone is UTC, and digits below nanoseconds are ignored. No string or double is involved, so
 * 19 digits stay exact.
 */
import { NS_OF_DAY, NS_OF_SECOND, SECONDS_PER_DAY } from '../../../base/model/time-units.ts';
import { setSeconds, type Timestamp } from '../timestamp.ts';

/**
 * Maximum digits before the point of a Unix time in seconds, which reaches the year 5138. More digits mean a
 * smaller unit.
 */
const MAX_DIGITS_OF_SECONDS = 11;
const MAX_DIGITS_OF_MS = 14;
const MAX_DIGITS_OF_US = 17;
const MAX_DIGITS_OF_NS = 19;
const DAYS_OF_MONTH = Uint8Array.of(31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);

/** Reads a time into `into`. Returns true if all of `bytes[start, end)` is a time. */
export function readTime(into: Timestamp, bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > 4 && bytes[start + 4] === 0x2d
    ? readDate(into, bytes, start, end)
    : readUnix(into, bytes, start, end);
}

/** Reads `2026-11-21T12:00:00.123456789+01:00`. Time and zone are optional, and a space may replace the T. */
export function readDate(into: Timestamp, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 10 || bytes[start + 7] !== 0x2d) return false;
  const century = twoDigits(bytes, start, end);
  const yearOfCentury = twoDigits(bytes, start + 2, end);
  const month = twoDigits(bytes, start + 5, end);
  const day = twoDigits(bytes, start + 8, end);
  if (century < 0 || yearOfCentury < 0 || day < 1 || month < 1 || month > 12) return false;
  const year = century * 100 + yearOfCentury;
  if (day > daysOfMonth(year, month)) return false;
  let seconds = daysSince1970(year, month, day) * SECONDS_PER_DAY;
  let at = start + 10;
  if (at === end) {
    setSeconds(into, seconds, 0);
    return true;
  }
  const separator = bytes[at] | 0x20;
  if (separator !== 0x74 && separator !== 0x20 && bytes[at] !== 0x09) return false;
  const hour = twoDigits(bytes, at + 1, end);
  const minute = bytes[at + 3] === 0x3a ? twoDigits(bytes, at + 4, end) : -1;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
  seconds += hour * 3600 + minute * 60;
  at += 6;
  let nanos = 0;
  if (at < end && bytes[at] === 0x3a) {
    const second = twoDigits(bytes, at + 1, end);
    if (second < 0 || second > 59) return false;
    seconds += second;
    at += 3;
    if (at < end && (bytes[at] === 0x2e || bytes[at] === 0x2c)) {
      const first = ++at;
      for (let unit = NS_OF_SECOND / 10; at < end && isDigit(bytes[at]); at++, unit /= 10) {
        if (unit >= 1) nanos += (bytes[at] - 0x30) * unit;
      }
      if (at === first) return false;
    }
  }
  const offset = zoneSeconds(bytes, at, end);
  if (Number.isNaN(offset)) return false;
  setSeconds(into, seconds - offset, nanos);
  return true;
}

/**
 * Returns the seconds east of UTC for `Z`, `+01:00`, `+0100`, `+01` or nothing, and NaN for anything else.
 */
function zoneSeconds(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return 0;
  const sign = bytes[start];
  if ((sign | 0x20) === 0x7a) return start + 1 === end ? 0 : Number.NaN;
  if (sign !== 0x2b && sign !== 0x2d) return Number.NaN;
  const hour = twoDigits(bytes, start + 1, end);
  let at = start + 3;
  let minute = 0;
  if (at < end) {
    if (bytes[at] === 0x3a) at++;
    minute = twoDigits(bytes, at, end);
    at += 2;
  }
  if (at !== end || hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
  return (hour * 3600 + minute * 60) * (sign === 0x2d ? -1 : 1);
}

/** Reads a decimal number since 1970, whose size decides its unit. Exponents are read as doubles. */
export function readUnix(into: Timestamp, bytes: Uint8Array, start: number, end: number): boolean {
  let point = start;
  while (point < end && isDigit(bytes[point])) point++;
  const digits = point - start;
  if (digits === 0 || digits > MAX_DIGITS_OF_NS) return false;
  let fractionEnd = point;
  if (point < end) {
    if (bytes[point] !== 0x2e) return readExponent(into, bytes, start, end);
    fractionEnd = point + 1;
    while (fractionEnd < end && isDigit(bytes[fractionEnd])) fractionEnd++;
    if (fractionEnd < end) return readExponent(into, bytes, start, end);
  }
  const places = placesOf(digits);
  const all = digits + places;
  let seconds = 0;
  let nanos = 0;
  for (let i = 0; i < all; i++) {
    const at = i < digits ? start + i : point + 1 + (i - digits);
    const digit = at < fractionEnd ? bytes[at] - 0x30 : 0;
    if (i < all - 9) seconds = seconds * 10 + digit;
    else nanos = nanos * 10 + digit;
  }
  setSeconds(into, seconds, nanos);
  return true;
}

function placesOf(digits: number): number {
  if (digits <= MAX_DIGITS_OF_SECONDS) return 9;
  if (digits <= MAX_DIGITS_OF_MS) return 6;
  return digits <= MAX_DIGITS_OF_US ? 3 : 0;
}

/** Maximum length of a number with an exponent, far above what encoders write. */
const MAX_EXPONENT_LENGTH = 40;
const EXPONENT = /^\d+(?:\.\d+)?[eE]\+?\d{1,2}$/;

function readExponent(into: Timestamp, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_EXPONENT_LENGTH) return false;
  const text = String.fromCharCode(...bytes.subarray(start, end));
  if (!EXPONENT.test(text)) return false;
  const value = Number(text);
  if (value >= 10 ** MAX_DIGITS_OF_NS) return false;
  const whole = Math.floor(value);
  const places = placesOf(String(BigInt(whole)).length);
  const perSecond = 10 ** places;
  const unitsPerSecond = NS_OF_SECOND / perSecond;
  const seconds = Math.floor(value / unitsPerSecond);
  const nanos = Math.floor((value - seconds * unitsPerSecond) * perSecond);
  setSeconds(into, seconds, Math.min(Math.max(nanos, 0), NS_OF_SECOND - 1));
  return true;
}

/** Adds nanoseconds to a time, to separate entries with the same arrival time and keep their order. */
export function addNanoseconds(into: Timestamp, time: Timestamp, ns: number): void {
  const sum = time.timeOfDay + ns;
  const days = Math.floor(sum / NS_OF_DAY);
  into.day = time.day + days;
  into.timeOfDay = sum - days * NS_OF_DAY;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns the number of two digits, or -1 if they are not digits. */
function twoDigits(bytes: Uint8Array, at: number, end: number): number {
  if (at + 2 > end || !isDigit(bytes[at]) || !isDigit(bytes[at + 1])) return -1;
  return (bytes[at] - 0x30) * 10 + bytes[at + 1] - 0x30;
}

function daysOfMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : DAYS_OF_MONTH[month - 1];
}

/** Counts from March 1, so that the leap day comes last. 719,468 days are before 1970. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const daysOfYears = y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  const daysOfMonths = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
  return daysOfYears + daysOfMonths + day - 1 - 719_468;
}
