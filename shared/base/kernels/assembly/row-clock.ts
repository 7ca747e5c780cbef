/**
 * Times of the rows of a page, and what a clock shows at them. Many lines begin with the time of their row, so a split page
 * stores such values without their digits (clock-pack.ts).
 */
import { sixteenDigits } from './decimal-digits';

const DAY_NS: u64 = 86_400_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/** Digits of a clock: HHMMSS and nine of the nanoseconds, numbered from 1. */
export const CLOCK_DIGITS: u32 = 15;

/** Address of the times: ns after `base` for each row (f64); 0 if they are not known. */
let timesAt: usize = 0;
let base: f64 = 0;

/** @param dayTime Time of day to which the times are relative, ns */
export function setTimes(times: usize, dayTime: f64): void {
  timesAt = times;
  base = dayTime;
}

// @inline
export function hasTimes(): bool {
  return timesAt !== 0;
}

/** Returns the time of day of a row, ns. A corrupt page may have times after the end of its day: those return 0. */
// @inline
export function timeOf(row: usize): u64 {
  const time = load<f64>(timesAt + (row << 3)) + base;
  return time >= 0 && time < f64(DAY_NS) ? u64(time) : 0;
}

/** Returns whether a clock can differ from UTC by this number of ns. */
// @inline
export function isShift(shift: u64): bool {
  return shift < DAY_NS;
}

/**
 * Returns the digits of a clock at the time of a row. The first of the sixteen is 0, so a digit is at its number.
 * @param shift Difference of the clock from UTC, ns, less than a day
 */
// @inline
export function clockDigits(row: usize, shift: u64): v128 {
  let time = timeOf(row) + shift;
  if (time >= DAY_NS) time -= DAY_NS;
  const seconds = time / SECOND_NS;
  const minutes = u32(seconds) / 60;
  const hours = minutes / 60;
  const shown = 10_000 * hours + 100 * (minutes - 60 * hours) + (u32(seconds) - 60 * minutes);
  return sixteenDigits(u64(shown) * SECOND_NS + (time - seconds * SECOND_NS));
}
