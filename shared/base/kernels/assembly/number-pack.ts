/**
 * Encodes numbers as bytes, in the smaller of two forms. They are the differences from the minimum, or the
 * differences from the previous number, with signs folded into the lowest bit. All lowest bytes come first,
 * then all second bytes and so on, because high bytes are similar.
 */
import { COLUMN_RECORD, COLUMN_RECORDS, NUMBERS } from './split-layout';

// Layout of a column's record.
export const RECORD_TYPE: usize = 0;
export const RECORD_DETAIL: usize = 1;
export const RECORD_WIDTH: usize = 2;
export const RECORD_MODE: usize = 3;
export const RECORD_COUNT: usize = 4;
export const RECORD_BYTES: usize = 8;
export const RECORD_NUMBER: usize = 12;
export const RECORD_BASE: usize = 16;

export const DIRECT: u32 = 0;
export const DELTA: u32 = 1;

// @inline
export function recordOf(column: usize): usize {
  return COLUMN_RECORDS + column * COLUMN_RECORD;
}

// @inline
function widthOf(most: u64): usize {
  return (71 - usize(clz(most))) >>> 3;
}

// @inline
function fold(value: i64): u64 {
  return u64(value << 1) ^ u64(value >> 63);
}

/** Writes the `count` numbers at NUMBERS, and their form to the record. Returns the end of the output. */
export function packNumbers(record: usize, count: usize, mayDiffer: bool, out: usize): usize {
  const first = load<i64>(NUMBERS);
  let least = first;
  let most = first;
  let before = first;
  let steps: f64 = 0;
  let widest: u64 = 0;
  for (let i: usize = 0; i < count; i++) {
    const value = load<i64>(NUMBERS + (i << 3));
    const step = fold(value - before);
    before = value;
    least = min(least, value);
    most = max(most, value);
    widest |= step;
    steps += f64(step);
  }
  let direct: f64 = 0;
  if (mayDiffer) {
    for (let i: usize = 0; i < count; i++) direct += f64(u64(load<i64>(NUMBERS + (i << 3)) - least));
  }
  const mode = mayDiffer && steps < direct / 4 ? DELTA : DIRECT;
  const width = widthOf(mode === DELTA ? widest : u64(most - least));
  before = first;
  for (let i: usize = 0; i < count; i++) {
    const value = load<i64>(NUMBERS + (i << 3));
    let rest = mode === DELTA ? fold(value - before) : u64(value - least);
    before = value;
    let at = out + i;
    for (let plane: usize = 0; plane < width; plane++) {
      store<u8>(at, u8(rest));
      rest >>>= 8;
      at += count;
    }
  }
  store<u8>(record, u8(width), RECORD_WIDTH);
  store<u8>(record, u8(mode), RECORD_MODE);
  store<i64>(record, mode === DELTA ? first : least, RECORD_BASE);
  return out + width * count;
}
