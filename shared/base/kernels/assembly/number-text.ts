/** Writes numbers as text. */
import { sixteenDigits } from './decimal-digits';

// @inline
function shuffleFrom(from: u32): v128 {
  return i8x16.add(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(u8(from)));
}

/**
 * Writes a number with `behind` of its digits behind a dot, and returns its bytes. Writes nothing if they do not fit up to `limit`,
 * else up to 32 bytes past the number.
 */
// @inline
export function joinNumber(value: i64, behind: u32, out: usize, limit: usize): usize {
  const negative = usize(value < 0);
  const digits = sixteenDigits(u64(value < 0 ? -value : value));
  const shown = u32(i8x16.bitmask(i8x16.ne(digits, i8x16.splat(0x30)))) | (1 << (15 - behind));
  const first = u32(ctz(shown));
  const whole = usize(16 - first - behind);
  const bytes = negative + whole + (behind === 0 ? 0 : usize(behind) + 1);
  if (out + bytes > limit) return usize.MAX_VALUE;
  store<u8>(out, 0x2d);
  v128.store(out + negative, i8x16.swizzle(digits, shuffleFrom(first)));
  if (behind !== 0) {
    v128.store(out + negative + whole + 1, i8x16.swizzle(digits, shuffleFrom(16 - behind)));
    store<u8>(out + negative + whole, 0x2e);
  }
  return bytes;
}
