/**
 * Encodes columns of timestamps and line lengths (docs/dev/format.md) as varints: seven bits per byte, and
 * the highest bit is set if more bytes follow. If no byte of 16 has that bit, they are 16 numbers. Otherwise
 * the bits show the end of the next number.
 *
 * The host places inputs and outputs anywhere, 64 bytes apart, because loads and stores run past their end.
 */

/** Maximum sum of times. Larger numbers are not exact on the host, so they are not valid offsets. */
const MAX_EXACT: u64 = u64(1) << 53;

let packedTo: usize = 0;
let total: u64 = 0;
let deltas: f64 = 0;
let pairs: u32 = 0;

/** Returns the end of the varints that the last call read or wrote. */
export function columnEnd(): usize {
  return packedTo;
}

/** Returns the sum of the lengths that the last call read. */
export function lengthTotal(): f64 {
  return f64(total);
}

// @inline
function putNumber(at: usize, number: u64): usize {
  let rest = number;
  let to = at;
  while (rest >= 0x80) {
    store<u8>(to++, u8(rest) | 0x80);
    rest >>>= 7;
  }
  store<u8>(to, u8(rest));
  return to + 1;
}

/** Encodes lengths (u32). */
export function packLengths(lengths: usize, rows: u32, out: usize): void {
  let to = out;
  for (let at = lengths; at < lengths + (usize(rows) << 2); at += 4) to = putNumber(to, u64(load<u32>(at)));
  packedTo = to;
}

/**
 * Decodes lengths of up to five bytes into `rows + 1` offsets (u32, valid if their total is less than 2^32).
 * Returns the number of valid rows.
 */
export function unpackLengths(from: usize, end: usize, rows: u32, out: usize): u32 {
  let at = from;
  let row: u32 = 0;
  total = 0;
  store<u32>(out, 0);
  let to = out + 4;
  while (row < rows && at < end) {
    const more = i8x16.bitmask(v128.load(at));
    if (more === 0 && rows - row >= 16 && end - at >= 16) {
      for (let i: usize = 0; i < 16; i++) {
        total += u64(load<u8>(at + i));
        store<u32>(to + (i << 2), u32(total));
      }
      at += 16;
      to += 64;
      row += 16;
      continue;
    }
    const bytes = usize(ctz(~more)) + 1;
    if (bytes > 5 || bytes > end - at) break;
    total += gather(load<u64>(at), bytes);
    store<u32>(to, u32(total));
    at += bytes;
    to += 4;
    row++;
  }
  packedTo = at;
  return row;
}

/** Decodes a varint from the lowest `bytes` bytes, 1 to 8: moves its groups of seven bits together. */
// @inline
function gather(word: u64, bytes: usize): u64 {
  const own = word & (~u64(0) >>> u64(64 - 8 * bytes)) & 0x7f7f7f7f7f7f7f7f;
  const two = (own & 0x007f007f007f007f) | ((own & 0x7f007f007f007f00) >>> 1);
  const four = (two & 0x00003fff00003fff) | ((two & 0x3fff00003fff0000) >>> 2);
  return (four & 0x0fffffff) | ((four & 0x0fffffff00000000) >>> 4);
}

/** Returns the index of the largest of the units 1, 1000, 1000^2, 1000^3 that divides all offsets (f64). */
export function scaleOfTimes(offsets: usize, rows: u32): u32 {
  let scale: u32 = 3;
  let unit: u64 = 1_000_000_000;
  for (let at = offsets; at < offsets + (usize(rows) << 3) && scale > 0; at += 8) {
    while (scale > 0 && u64(load<f64>(at)) % unit !== 0) {
      scale--;
      unit /= 1000;
    }
  }
  return scale;
}

/** Returns the mean difference between adjacent rows of a run, in units; 0 if there are none. */
export function meanDelta(offsets: usize, rows: u32, starts: usize, unit: u32): f64 {
  deltas = 0;
  pairs = 0;
  for (let row: usize = 1; row < usize(rows); row++) {
    if (load<u8>(starts + row) === 1) continue;
    const at = offsets + (row << 3);
    deltas += load<f64>(at) - load<f64>(at - 8);
    pairs++;
  }
  return pairs === 0 ? 0 : deltas / f64(unit) / f64(pairs);
}

/** Returns the mean distance of these differences from their mean, in units. */
export function meanDistance(offsets: usize, rows: u32, starts: usize, unit: u32, mean: f64): f64 {
  let distances: f64 = 0;
  const ofUnits = mean * f64(unit);
  for (let row: usize = 1; row < usize(rows); row++) {
    if (load<u8>(starts + row) === 1) continue;
    const at = offsets + (row << 3);
    distances += abs(load<f64>(at) - load<f64>(at - 8) - ofUnits);
  }
  return pairs === 0 ? 0 : distances / f64(unit) / f64(pairs);
}

/**
 * Encodes differences: the lowest `bits` bits of each, up to 40, one behind the other to `low`, and what is above them to `high`.
 * `starts` is 1 for the first row of a run.
 */
export function packTimes(
  offsets: usize,
  rows: u32,
  starts: usize,
  unit: u32,
  bits: u32,
  high: usize,
  low: usize,
): void {
  const lowMask = (u64(1) << u64(bits)) - 1;
  let to = high;
  let bit: usize = 0;
  let before: u64 = 0;
  for (let row: usize = 0; row < usize(rows); row++) {
    const offset = u64(load<f64>(offsets + (row << 3)));
    const value = unit === 1 ? offset : offset / u64(unit);
    const delta = load<u8>(starts + row) === 1 ? value : value - before;
    before = value;
    const lowTo = low + (bit >>> 3);
    const shift = u64(bit & 7);
    const kept = u64(load<u8>(lowTo)) & ((u64(1) << shift) - 1);
    store<u64>(lowTo, kept | ((delta & lowMask) << shift));
    bit += usize(bits);
    to = putNumber(to, delta >>> u64(bits));
  }
  packedTo = to;
}

/**
 * Decodes the output of `packTimes` into offsets (f64). `starts` lists the first rows of all runs except the
 * first (u32), ascending, then a value of at least `rows`. Returns the number of valid rows.
 */
export function unpackTimes(
  high: usize,
  end: usize,
  low: usize,
  bits: u32,
  unit: u32,
  rows: u32,
  starts: usize,
  out: usize,
): u32 {
  const shift = u64(bits);
  const lowMask = (u64(1) << shift) - 1;
  let at = high;
  let bit: usize = 0;
  let start = starts;
  let value: u64 = 0;
  let row: u32 = 0;
  for (; row < rows && at < end; row++) {
    const word = load<u64>(at);
    const bytes = usize(ctz(~word & 0x8080808080808080) >>> 3) + 1;
    if (bytes > 8 || bytes > end - at) break;
    const upper = gather(word, bytes);
    if (upper >>> (53 - shift) !== 0) break;
    while (load<u32>(start) <= row) {
      value = 0;
      start += 4;
    }
    value += (upper << shift) | ((load<u64>(low + (bit >>> 3)) >>> u64(bit & 7)) & lowMask);
    if (value > MAX_EXACT) break;
    store<f64>(out + (usize(row) << 3), f64(value) * f64(unit));
    at += bytes;
    bit += usize(bits);
  }
  packedTo = at;
  return row;
}
