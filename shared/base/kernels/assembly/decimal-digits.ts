/** Decimal digits of numbers, several at a time. */

/** Returns eight digits of a number below 10^8, the highest digit in the lowest byte. */
// @inline
function eightDigits(value: u32): u64 {
  const high = value / 10_000;
  const fours = u64(high) | (u64(value - high * 10_000) << 32);
  const hundreds = ((fours * 10_486) >>> 20) & 0x0000007f0000007f;
  const twos = hundreds | ((fours - 100 * hundreds) << 16);
  const tens = ((twos * 103) >>> 10) & 0x000f000f000f000f;
  return (tens | ((twos - 10 * tens) << 8)) + 0x3030303030303030;
}

/** Returns sixteen digits of a number below 10^16. */
// @inline
export function sixteenDigits(value: u64): v128 {
  // Most numbers are short, and a 64-bit division takes as long as the remaining code of this function.
  const isShort = value < 100_000_000;
  const high: u64 = isShort ? 0 : value / 100_000_000;
  const upper: u64 = isShort ? 0x3030303030303030 : eightDigits(u32(high));
  return i64x2.replace_lane(i64x2.splat(i64(upper)), 1, i64(eightDigits(u32(value - high * 100_000_000))));
}
