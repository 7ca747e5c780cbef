/**
 * Encodes a column whose values show the time of their rows, as `2026-11-23T14:12:51.017Z`. Digits of hours, minutes, seconds
 * and their fraction follow from the row. A clock may differ from UTC by a multiple of a quarter of an hour, as time zones do.
 */
import { CLOCK } from './column-types';
import { RECORD_BASE, RECORD_DETAIL, RECORD_TYPE } from './number-pack';
import { clockDigits, hasTimes, timeOf } from './row-clock';
import { SPLIT_OFFSETS } from './split-layout';
import { startOf } from './value-spans';

const QUARTER_SECONDS: u32 = 900;
const DAY_SECONDS: u32 = 86_400;
const SECOND_NS: u64 = 1_000_000_000;
const NO_TIME: u32 = u32.MAX_VALUE;
/** Bytes of `HH:MM:SS`. */
const CLOCK_BYTES: usize = 8;

/** Returns two digits as a number, or NO_TIME for other bytes. */
// @inline
function twoDigits(at: usize): u32 {
  const tens = u32(load<u8>(at)) - 0x30;
  const ones = u32(load<u8>(at, 1)) - 0x30;
  return tens < 10 && ones < 10 ? 10 * tens + ones : NO_TIME;
}

/** Returns the time of day of a text as `HH:MM:SS`, seconds, or NO_TIME. */
function secondsAt(at: usize): u32 {
  if (load<u8>(at, 2) !== 0x3a || load<u8>(at, 5) !== 0x3a) return NO_TIME;
  const hours = twoDigits(at);
  const minutes = twoDigits(at + 3);
  const seconds = twoDigits(at + 6);
  if (hours > 23 || minutes > 59 || seconds > 59) return NO_TIME;
  return 3600 * hours + 60 * minutes + seconds;
}

/** Returns which digit of the clock is at a position, relative to its first digit, or 0: HH:MM:SS, a sign, and nine digits. */
function digitAt(position: usize): u32 {
  if (position < 2) return u32(position) + 1;
  if (position === 3 || position === 4) return u32(position);
  if (position === 6 || position === 7) return u32(position) - 1;
  return position > CLOCK_BYTES && position <= CLOCK_BYTES + 9 ? u32(position) - 2 : 0;
}

/** Returns the row of value `i`, at or after `from`. */
// @inline
function rowOf(spans: usize, i: usize, from: usize): usize {
  const start = load<u32>(spans + (i << 3));
  let row = from;
  while (load<u32>(SPLIT_OFFSETS + (row << 2), 4) <= start) row++;
  return row;
}

/**
 * Writes the pattern of values of `bytes` bytes that differ in digits only. Returns 0 if they do not show the times of their rows.
 * @param varying Bits of the positions at which values differ
 */
export function packClock(
  record: usize,
  spans: usize,
  count: usize,
  bytes: usize,
  varying: u64,
  out: usize,
): usize {
  if (!hasTimes()) return 0;
  const first = startOf(spans, 0);
  const ofRow = u32(timeOf(rowOf(spans, 0, 0)) / SECOND_NS);
  for (let clock: usize = 0; clock + CLOCK_BYTES <= bytes; clock++) {
    const shown = secondsAt(first + clock);
    if (shown === NO_TIME) continue;
    const shift = (shown + DAY_SECONDS - ofRow) % DAY_SECONDS;
    if (shift % QUARTER_SECONDS !== 0 || !layClock(first, bytes, varying, clock, out)) continue;
    if (!showsTimes(spans, count, bytes, out + bytes, u64(shift) * SECOND_NS)) continue;
    store<u8>(record, u8(CLOCK), RECORD_TYPE);
    store<u8>(record, u8(bytes), RECORD_DETAIL);
    store<u64>(record, u64(shift) * SECOND_NS, RECORD_BASE);
    return out + 2 * bytes;
  }
  return 0;
}

/** Writes the byte of each constant position, then the number of the digit at each other one. Returns false if one has none. */
function layClock(first: usize, bytes: usize, varying: u64, clock: usize, out: usize): bool {
  for (let i: usize = 0; i < bytes; i++) {
    const isChanging = ((varying >>> u64(i)) & 1) !== 0;
    const digit = isChanging && i >= clock ? digitAt(i - clock) : 0;
    if (isChanging && digit === 0) return false;
    store<u8>(out + i, isChanging ? 0 : load<u8>(first + i));
    store<u8>(out + bytes + i, u8(digit));
  }
  return true;
}

/** Returns whether the values have the digits of their rows, 16 bytes at a time. */
function showsTimes(spans: usize, count: usize, bytes: usize, digits: usize, shift: u64): bool {
  // What follows the numbers of the digits counts as constant.
  memory.fill(digits + bytes, 0, 16);
  let row: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    row = rowOf(spans, i, row);
    const clock = clockDigits(row, shift);
    const at = startOf(spans, i);
    for (let part: usize = 0; part < bytes; part += 16) {
      const wanted = v128.load(digits + part);
      const isSame = i8x16.eq(i8x16.swizzle(clock, wanted), v128.load(at + part));
      if (!i8x16.all_true(v128.or(isSame, i8x16.eq(wanted, i8x16.splat(0))))) return false;
    }
  }
  return true;
}
