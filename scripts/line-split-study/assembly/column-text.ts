/**
 * Converts typed columns to text. Each function writes each value followed by a zero byte, starting at `out`,
 * and returns the end. The bytes of each type are those of `column-types.ts`. Stores overrun by up to 16
 * bytes, so slack after `out` is required.
 */

/** Digits "00" to "99". */
const PAIRS = memory.data(200);
/** Digits "0" to "255" in 4 bytes each, and the length of each with its separator. */
const PARTS = memory.data(1024);
const PART_BYTES = memory.data(256);

export function begin(): void {
  for (let i: usize = 0; i < 100; i++) {
    store<u8>(PAIRS + 2 * i, <u8>(48 + i / 10));
    store<u8>(PAIRS + 2 * i + 1, <u8>(48 + (i % 10)));
  }
  for (let i: usize = 0; i < 256; i++) {
    const end = digits(PARTS + 4 * i, i);
    store<u8>(PART_BYTES + i, <u8>(end + 1 - PARTS - 4 * i));
  }
}

// @inline
function copy(to: usize, from: usize, bytes: usize): void {
  let i: usize = 0;
  do {
    v128.store(to + i, v128.load(from + i));
    i += 16;
  } while (i < bytes);
}

/** @param starts space for one address per entry, plus one; @param high second bytes of the indexes, or 0 */
export function words(
  dictionary: usize,
  dictionaryBytes: usize,
  starts: usize,
  low: usize,
  high: usize,
  count: u32,
  out: usize,
): usize {
  let entries: usize = 0;
  store<u32>(starts, <u32>dictionary);
  for (let at = dictionary; at < dictionary + dictionaryBytes; at++) {
    if (load<u8>(at) === 0) store<u32>(starts + 4 * ++entries, <u32>at + 1);
  }
  for (let i: usize = 0; i < <usize>count; i++) {
    let place: usize = entries === 1 ? 0 : <usize>load<u8>(low + i);
    if (high !== 0) place |= (<usize>load<u8>(high + i)) << 8;
    const from = <usize>load<u32>(starts + 4 * place);
    const bytes = <usize>load<u32>(starts + 4 * place, 4) - from;
    copy(out, from, bytes);
    out += bytes;
  }
  return out;
}

/** Decodes numbers of `packNumbers`, 8 bytes each, at `into`. */
export function numbers(planes: usize, width: u32, isDelta: bool, base: f64, count: u32, into: usize): void {
  const rows = <usize>count;
  let last = <i64>base;
  for (let i: usize = 0; i < rows; i++) {
    let value: u64 = 0;
    for (let plane: usize = 0; plane < <usize>width; plane++) {
      value |= (<u64>load<u8>(planes + plane * rows + i)) << (8 * plane);
    }
    if (isDelta) last += <i64>(value >>> 1) ^ -(<i64>(value & 1));
    store<i64>(into + 8 * i, isDelta ? last : <i64>value + <i64>base);
  }
}

/** Writes the digits of a number below 10^16 at `out`. */
function digits(out: usize, value: u64): usize {
  if (value >= 100_000_000) {
    const high = value / 100_000_000;
    const end = digits(out, high);
    padded(end, <u32>(value - high * 100_000_000), 8);
    return end + 8;
  }
  const low = <u32>value;
  let count: u32 = 1;
  for (let above: u32 = 10; count < 8 && low >= above; above *= 10) count++;
  padded(out, low, count);
  return out + <usize>count;
}

/** Writes a number with a fixed number of digits, padded with zeros. */
// @inline
function padded(out: usize, value: u32, count: u32): void {
  let at = out + <usize>count;
  while (count >= 2) {
    const rest = value / 100;
    at -= 2;
    store<u16>(at, load<u16>(PAIRS + 2 * <usize>(value - 100 * rest)));
    value = rest;
    count -= 2;
  }
  if (count === 1) store<u8>(at - 1, <u8>(48 + value));
}

export function integers(values: usize, count: u32, out: usize): usize {
  for (let i: usize = 0; i < <usize>count; i++) {
    let value = load<i64>(values + 8 * i);
    if (value < 0) {
      store<u8>(out++, 45);
      value = -value;
    }
    out = digits(out, value);
    store<u8>(out++, 0);
  }
  return out;
}

// @inline
function power(places: u32): i64 {
  let result: i64 = 1;
  for (let i: u32 = 0; i < places; i++) result *= 10;
  return result;
}

export function decimals(values: usize, places: u32, count: u32, out: usize): usize {
  const one = power(places);
  for (let i: usize = 0; i < <usize>count; i++) {
    let value = load<i64>(values + 8 * i);
    if (value < 0) {
      store<u8>(out++, 45);
      value = -value;
    }
    const whole = value / one;
    out = digits(out, whole);
    store<u8>(out, 46);
    padded(out + 1, <u32>(value - whole * one), places);
    out += 1 + <usize>places;
    store<u8>(out++, 0);
  }
  return out;
}

const DAY = memory.data(32);

/** Writes "2026-11-23" at DAY from days since 1970. */
function layDay(days: i64): void {
  // Years start in March here, so that a leap day is the last day.
  const shifted = days + 719_468;
  const era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097;
  const day = <u32>(shifted - era * 146_097);
  const year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
  const dayOfYear = day - (365 * year + year / 4 - year / 100);
  const month = (5 * dayOfYear + 2) / 153;
  const first: u32 = month >= 10 ? 1 : 0;
  padded(DAY, <u32>(<i64>year + era * 400) + first, 4);
  store<u8>(DAY + 4, 45);
  padded(DAY + 5, month < 10 ? month + 3 : month - 9, 2);
  store<u8>(DAY + 7, 45);
  padded(DAY + 8, dayOfYear - (153 * month + 2) / 5 + 1, 2);
}

/** @param zone its text, up to 16 bytes */
export function times(
  values: usize,
  joint: u32,
  places: u32,
  zone: usize,
  zoneBytes: u32,
  count: u32,
  out: usize,
): usize {
  const one = power(places);
  let lastDay: i64 = i64.MIN_VALUE;
  for (let i: usize = 0; i < <usize>count; i++) {
    const value = load<i64>(values + 8 * i);
    let seconds = value / one;
    if (seconds * one > value) seconds--;
    let day = seconds / 86_400;
    if (day * 86_400 > seconds) day--;
    if (day !== lastDay) {
      layDay(day);
      lastDay = day;
    }
    const clock = <u32>(seconds - day * 86_400);
    v128.store(out, v128.load(DAY));
    store<u8>(out, <u8>joint, 10);
    padded(out + 11, clock / 3600, 2);
    store<u8>(out, 58, 13);
    padded(out + 14, (clock / 60) % 60, 2);
    store<u8>(out, 58, 16);
    padded(out + 17, clock % 60, 2);
    out += 19;
    if (places > 0) {
      store<u8>(out, 46);
      padded(out + 1, <u32>(value - seconds * one), places);
      out += 1 + <usize>places;
    }
    v128.store(out, v128.load(zone));
    out += <usize>zoneBytes;
    store<u8>(out++, 0);
  }
  return out;
}

/** Hexadecimal letters of 8 bytes. */
// @inline
function hex8(from: usize, out: usize): void {
  const bytes = v128.load64_zero(from);
  const low = v128.and(bytes, i8x16.splat(15));
  const high = v128.and(i16x8.shr_u(bytes, 4), i8x16.splat(15));
  const halves = i8x16.shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const letters = i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);
  v128.store(out, i8x16.swizzle(letters, halves));
}

/** @param width bytes of a value */
export function hex(bytes: usize, width: u32, count: u32, out: usize): usize {
  const step = <usize>width;
  for (let i: usize = 0; i < <usize>count; i++) {
    for (let at: usize = 0; at < step; at += 8) hex8(bytes + at, out + 2 * at);
    bytes += step;
    out += 2 * step;
    store<u8>(out++, 0);
  }
  return out;
}

export function uuids(bytes: usize, count: u32, out: usize): usize {
  for (let i: usize = 0; i < <usize>count; i++) {
    hex8(bytes, out);
    const second = load<u32>(out, 8);
    const third = load<u32>(out, 12);
    store<u8>(out, 45, 8);
    store<u32>(out, second, 9);
    store<u8>(out, 45, 13);
    store<u32>(out, third, 14);
    store<u8>(out, 45, 18);
    hex8(bytes + 8, out + 20);
    // Makes space for the fourth dash by moving the first 4 of these letters back by one.
    store<u32>(out + 19, load<u32>(out, 20));
    store<u8>(out, 45, 23);
    store<u8>(out, 0, 36);
    bytes += 16;
    out += 37;
  }
  return out;
}

export function addresses(bytes: usize, count: u32, out: usize): usize {
  for (let i: usize = 0; i < <usize>count; i++) {
    for (let part: usize = 0; part < 4; part++) {
      const value = <usize>load<u8>(bytes + 4 * i + part);
      store<u32>(out, load<u32>(PARTS + 4 * value));
      out += <usize>load<u8>(PART_BYTES + value);
      store<u8>(out - 1, part === 3 ? 0 : 46);
    }
  }
  return out;
}
