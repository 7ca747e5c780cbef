/**
 * OTLP times, unsigned 64-bit nanoseconds since 1970, as whole seconds and nanoseconds: both exact as
 * numbers. The reference reads them as signed. A time above 2^63 is therefore before 1970 and fails the check
 * for old entries.
 */
import { NS_OF_SECOND } from '../../../base/model/time-units.ts';

export interface Instant {
  seconds: number;
  /** 0 <= x < 10^9. */
  nanos: number;
}

const TWO_32 = 0x100000000;
/** 2^63 and 2^64 ns. */
const INT64_SECONDS = 9_223_372_036;
const INT64_NANOS = 854_775_807;
const UINT64_SECONDS = 18_446_744_073;
const UINT64_NANOS = 709_551_615;
const MAX_DIGITS = 20;

/** Sets the time from a fixed64, given as two signed 32-bit halves. */
export function instantOfHalves(into: Instant, low: number, high: number): void {
  // The quotient may be off by one, because a double has 53 bits. The remainder modulo 2^32 is exact and
  // shows it.
  let seconds = Math.floor((high * TWO_32 + (low >>> 0)) / NS_OF_SECOND);
  let nanos = (low - Math.imul(seconds, NS_OF_SECOND)) | 0;
  if (nanos < 0) {
    nanos += NS_OF_SECOND;
    seconds--;
  } else if (nanos >= NS_OF_SECOND) {
    nanos -= NS_OF_SECOND;
    seconds++;
  }
  into.seconds = seconds;
  into.nanos = nanos;
}

/**
 * Sets the time from the decimal digits `bytes[start, end)`. Returns false if they are not an unsigned 64-bit
 * integer.
 */
export function instantOfDigits(into: Instant, bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end) return false;
  let at = start;
  while (at < end - 1 && bytes[at] === 0x30) at++;
  if (end - at > MAX_DIGITS) return false;
  let seconds = 0;
  let nanos = 0;
  for (let i = at; i < end; i++) {
    const digit = bytes[i] - 0x30;
    if (digit < 0 || digit > 9) return false;
    if (i < end - 9) seconds = seconds * 10 + digit;
    else nanos = nanos * 10 + digit;
  }
  if (seconds > UINT64_SECONDS || (seconds === UINT64_SECONDS && nanos > UINT64_NANOS)) return false;
  if (seconds > INT64_SECONDS || (seconds === INT64_SECONDS && nanos > INT64_NANOS)) {
    seconds -= UINT64_SECONDS;
    nanos -= UINT64_NANOS + 1;
    if (nanos < 0) {
      nanos += NS_OF_SECOND;
      seconds--;
    }
  }
  into.seconds = seconds;
  into.nanos = nanos;
  return true;
}
