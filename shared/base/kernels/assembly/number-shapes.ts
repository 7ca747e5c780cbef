/**
 * Number texts such as `200`, `-1.50` or `12.345ms`: digits as a whole number, decimals, and a unit. A shape is the number of decimals and
 * the unit. The rules are those of shared/storage/columns/number-text.ts. Loads run up to 4 bytes past a text.
 */
import { CELL_SHAPES, MAX_SHAPES, SHAPE_RECORD } from './field-layout';
import { isCleanUtf8 } from './utf8';

/** As in shared/storage/columns/bounds.ts. */
const MAX_DIGITS: u32 = 15;
const MAX_UNIT_BYTES: usize = 4;
/** Sign, digits, dot and unit. */
const MAX_NUMBER_BYTES: usize = usize(MAX_DIGITS) + MAX_UNIT_BYTES + 2;

const MINUS: u32 = 0x2d;
const DOT: u32 = 0x2e;
const ZERO: u32 = 0x30;

// Layout of a shape: decimals, bytes of the unit, unit.
const UNIT_BYTES: usize = 4;
const UNIT: usize = 8;

/** Result of `readShape` for a text that is no such number, or has one shape too many. */
export const NO_SHAPE: u32 = 0xffffffff;

let shapes: u32 = 0;
let digitsOfLast: f64 = 0;

export function clearShapes(): void {
  shapes = 0;
}

export function shapeCount(): u32 {
  return shapes;
}

/** Digits of the number that `readShape` found last, as a whole number with sign. */
// @inline
export function lastDigits(): f64 {
  return digitsOfLast;
}

/** Returns the number of the text's shape, which may be new, or NO_SHAPE. */
export function readShape(start: usize, length: usize): u32 {
  if (length === 0 || length > MAX_NUMBER_BYTES) return NO_SHAPE;
  const end = start + length;
  const isNegative = load<u8>(start) === MINUS;
  const whole = isNegative ? start + 1 : start;
  let at = whole;
  let value: u64 = 0;
  let digit: u32 = 0;
  while (at < end && (digit = load<u8>(at) - ZERO) <= 9) {
    value = value * 10 + u64(digit);
    at++;
  }
  let digits = u32(at - whole);
  if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && load<u8>(whole) === ZERO)) return NO_SHAPE;
  let places: u32 = 0;
  if (at < end && load<u8>(at) === DOT) {
    const dot = at++;
    while (at < end && (digit = load<u8>(at) - ZERO) <= 9) {
      value = value * 10 + u64(digit);
      at++;
    }
    places = u32(at - dot) - 1;
    digits += places;
    if (places === 0 || digits > MAX_DIGITS || (at < end && load<u8>(at) === DOT)) return NO_SHAPE;
  }
  if (isNegative && value === 0) return NO_SHAPE;
  if (end - at > MAX_UNIT_BYTES) return NO_SHAPE;
  digitsOfLast = isNegative ? -f64(value) : f64(value);
  return shapeOf(places, at, end - at);
}

function shapeOf(places: u32, start: usize, bytes: usize): u32 {
  const unit = bytes === 0 ? 0 : load<u32>(start) & (0xffffffff >>> (32 - (u32(bytes) << 3)));
  for (let i: u32 = 0; i < shapes; i++) {
    const known = CELL_SHAPES + usize(i) * SHAPE_RECORD;
    if (load<u32>(known) !== places || load<u32>(known, UNIT) !== unit) continue;
    if (usize(load<u32>(known, UNIT_BYTES)) === bytes) return i;
  }
  if (shapes === MAX_SHAPES || !isCleanUtf8(start, bytes)) return NO_SHAPE;
  const added = CELL_SHAPES + usize(shapes) * SHAPE_RECORD;
  store<u32>(added, places);
  store<u32>(added, u32(bytes), UNIT_BYTES);
  store<u32>(added, unit, UNIT);
  return shapes++;
}
