/**
 * Encodes columns of values of equal length, with decimal or hexadecimal digits at the same positions
 * (column-pack.ts).
 */
import { packClock } from './clock-pack';
import { HEX, PATTERN } from './column-types';
import { held, heldByte } from './held';
import { packNumbers, RECORD_DETAIL, RECORD_NUMBER, RECORD_TYPE } from './number-pack';
import { LITERALS, MAX_PATTERN, NUMBERS } from './split-layout';
import { bytesOf, startOf } from './value-spans';

/** Minimum number of values. A pattern costs 2 bytes for each position of a value. */
const MIN_PATTERN_VALUES: usize = 8;
const MAX_PATTERN_DIGITS: usize = 16;
const MIN_HEX_DIGITS: usize = 8;

/** Bits for each position of a value: values differ; not all are digits; not all are hexadecimal digits. */
let varying: u64 = 0;
let noDigits: u64 = 0;
let noHex: u64 = 0;

function findPattern(spans: usize, count: usize, bytes: usize): void {
  varying = 0;
  noDigits = 0;
  noHex = 0;
  const first = startOf(spans, 0);
  const zero = heldByte(LITERALS, 0x30);
  const ten = heldByte(LITERALS + 1, 10);
  const a = heldByte(LITERALS + 2, 0x61);
  const six = heldByte(LITERALS + 3, 6);
  for (let part: usize = 0; part < bytes; part += 16) {
    const model = v128.load(first + part);
    let different = i8x16.splat(0);
    let others = i8x16.splat(0);
    let strange = i8x16.splat(0);
    for (let i: usize = 0; i < count; i++) {
      const text = v128.load(startOf(spans, i) + part);
      const noDigit = i8x16.ge_u(i8x16.sub(text, zero), ten);
      const noLetter = i8x16.ge_u(i8x16.sub(text, a), six);
      different = v128.or(different, v128.xor(text, model));
      others = v128.or(others, noDigit);
      strange = v128.or(strange, v128.and(noDigit, noLetter));
    }
    const mask = bytes - part >= 16 ? u64(0xffff) : (u64(1) << u64(bytes - part)) - 1;
    const same = u64(u32(i8x16.bitmask(i8x16.eq(different, i8x16.splat(0)))));
    varying |= (~same & mask) << u64(part);
    noDigits |= (u64(u32(i8x16.bitmask(others))) & mask) << u64(part);
    noHex |= (u64(u32(i8x16.bitmask(strange))) & mask) << u64(part);
  }
}

/** Encodes a pattern. Returns 0 if the values do not fit one. */
export function packPattern(record: usize, spans: usize, count: usize, out: usize): usize {
  const bytes = bytesOf(spans, 0);
  if (bytes > MAX_PATTERN || count < MIN_PATTERN_VALUES) return 0;
  for (let i: usize = 1; i < count; i++) if (bytesOf(spans, i) !== bytes) return 0;
  findPattern(spans, count, bytes);
  const digits = usize(popcnt(varying));
  store<u8>(record, u8(bytes), RECORD_DETAIL);
  if ((varying & noDigits) === 0 && digits > 0 && digits <= MAX_PATTERN_DIGITS) {
    const end = packClock(record, spans, count, bytes, varying, out);
    return end === 0 ? packDigits(record, spans, count, bytes, out) : end;
  }
  const all: u64 = bytes === 64 ? ~0 : (u64(1) << u64(bytes)) - 1;
  const nibbles = usize(popcnt(all & ~noHex));
  if ((varying & noHex) !== 0 || nibbles < MIN_HEX_DIGITS) return 0;
  return packHex(record, spans, count, bytes, out);
}

/** Writes the byte of each constant position, and 0 for the others. */
function layPattern(first: usize, bytes: usize, changing: u64, out: usize): usize {
  for (let i: usize = 0; i < bytes; i++) {
    const isChanging = ((changing >>> u64(i)) & 1) !== 0;
    store<u8>(out + i, isChanging ? 0 : load<u8>(first + i));
    store<u8>(out + bytes + i, u8(isChanging));
  }
  return out + 2 * bytes;
}

function packDigits(record: usize, spans: usize, count: usize, bytes: usize, out: usize): usize {
  for (let i: usize = 0; i < count; i++) {
    const at = startOf(spans, i);
    let value: i64 = 0;
    for (let rest = varying; rest !== 0; rest &= rest - 1) {
      value = value * 10 + i64(u32(load<u8>(at + usize(ctz(rest)))) - 0x30);
    }
    store<i64>(NUMBERS + (i << 3), value);
  }
  store<u8>(record, u8(PATTERN), RECORD_TYPE);
  return packNumbers(record, count, true, layPattern(startOf(spans, 0), bytes, varying, out));
}

/**
 * Packs digits, two per byte.
 * @param one, fifteen, low 16 bytes of 1 and of 15, and 8 words of 15
 */
// @inline
function packNibbles(from: usize, digits: usize, out: usize, one: v128, fifteen: v128, low: v128): void {
  for (let at: usize = 0; at < digits; at += 16) {
    const text = v128.load(from + at);
    // Words are shifted, because bytes cost more. The mask removes the bits of the other byte.
    const letters = v128.and(i16x8.shr_u(text, 6), one);
    const nine = v128.or(i16x8.shl(letters, 3), letters);
    const nibbles = i8x16.add(v128.and(text, fifteen), nine);
    const pairs = v128.or(i16x8.shl(v128.and(nibbles, low), 4), i16x8.shr_u(nibbles, 8));
    v128.store64_lane(out + (at >>> 1), i8x16.narrow_i16x8_u(pairs, pairs), 0);
  }
}

function packHex(record: usize, spans: usize, count: usize, bytes: usize, out: usize): usize {
  const all: u64 = bytes === 64 ? ~0 : (u64(1) << u64(bytes)) - 1;
  const changing = all & ~noHex;
  const digits = usize(popcnt(changing));
  const isPure = digits === bytes && (digits & 1) === 0;
  const step = (digits + 1) >>> 1;
  const one = heldByte(LITERALS, 1);
  const fifteen = heldByte(LITERALS + 1, 15);
  const low = held(LITERALS, i16x8.splat(15));
  let to = layPattern(startOf(spans, 0), bytes, changing, out);
  for (let i: usize = 0; i < count; i++) {
    const at = startOf(spans, i);
    if (isPure) packNibbles(at, digits, to, one, fifteen, low);
    else {
      let next = LITERALS;
      for (let rest = changing; rest !== 0; rest &= rest - 1) {
        store<u8>(next++, load<u8>(at + usize(ctz(rest))));
      }
      // An odd number of digits is padded with a zero.
      store<u8>(next, 0x30);
      packNibbles(LITERALS, digits, to, one, fifteen, low);
    }
    to += step;
  }
  store<u8>(record, u8(HEX), RECORD_TYPE);
  store<u32>(record, u32(digits), RECORD_NUMBER);
  return to;
}
