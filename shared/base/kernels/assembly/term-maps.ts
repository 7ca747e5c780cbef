/**
 * Folds and classifies a text, 64 bytes at a time, into bitmaps: digits, letters or digits, and the ends of what can be a term. So
 * short numbers between other characters, which have no term, take no step of a loop.
 *
 * Bits at the start of a line may be of the end of the line before.
 */
import { heldByte } from './held';
import { ALNUMS, DIGITS, GRAM_ENDS, ORDERS, QUAD_ENDS, TERM_LINES, TOKEN_ENDS } from './term-layout';
import { DOT } from './text-bytes';

/** Folds ASCII letters to lower case, and computes the bitmaps. */
export function classify(bytes: usize): void {
  const zero = heldByte(ORDERS, 0x30);
  const ten = heldByte(ORDERS + 1, 10);
  const lowerA = heldByte(ORDERS + 3, 0x61);
  const letters = heldByte(ORDERS + 4, 26);
  const caseBit = heldByte(ORDERS + 5, 0x20);
  const dotByte = heldByte(ORDERS + 6, DOT);
  // What the 64 bytes before have.
  let others0: u64 = 0;
  let pairs0: u64 = 0;
  let alnums0: u64 = 0;
  let alnumPairs0: u64 = 0;
  let digits0: u64 = 0;
  let digitPairs0: u64 = 0;
  let dots0: u64 = 0;
  let dotPairs0: u64 = 0;
  for (let at: usize = 0; at < bytes; at += 64) {
    let digits: u64 = 0;
    let alnums: u64 = 0;
    let dots: u64 = 0;
    for (let part: usize = 0; part < 64; part += 16) {
      const text = v128.load(TERM_LINES + at + part);
      const digit = i8x16.lt_u(i8x16.sub(text, zero), ten);
      const letter = i8x16.lt_u(i8x16.sub(v128.or(text, caseBit), lowerA), letters);
      v128.store(TERM_LINES + at + part, v128.or(text, v128.and(letter, caseBit)));
      const shift = u64(part);
      digits |= u64(u32(i8x16.bitmask(digit))) << shift;
      alnums |= u64(u32(i8x16.bitmask(v128.or(digit, letter)))) << shift;
      dots |= u64(u32(i8x16.bitmask(i8x16.eq(text, dotByte)))) << shift;
    }
    const map = at >>> 3;
    store<u64>(DIGITS + map, digits);
    store<u64>(ALNUMS + map, alnums);
    const others = ~digits;
    const pairs = others & before(others, others0, 1);
    store<u64>(GRAM_ENDS + map, pairs & before(pairs, pairs0, 2) & before(others, others0, 4));
    const alnumPairs = alnums & before(alnums, alnums0, 1);
    const digitPairs = digits | before(digits, digits0, 1);
    const fours = alnumPairs & before(alnumPairs, alnumPairs0, 2);
    store<u64>(TOKEN_ENDS + map, fours & (digitPairs | before(digitPairs, digitPairs0, 2)));
    const dotPairs = dots & upToThree(dots, dots0);
    store<u64>(QUAD_ENDS + map, dotPairs & upToThree(dotPairs, dotPairs0));
    others0 = others;
    pairs0 = pairs;
    alnums0 = alnums;
    alnumPairs0 = alnumPairs;
    digits0 = digits;
    digitPairs0 = digitPairs;
    dots0 = dots;
    dotPairs0 = dotPairs;
  }
}

/** Returns the bits of the bytes that are `distance` before each. @param last bits of the previous 64 bytes */
// @inline
function before(bits: u64, last: u64, distance: u64): u64 {
  return (bits << distance) | (last >>> (64 - distance));
}

/** Returns a bit for each byte that has a set bit before it, with one to three bytes between them. */
// @inline
function upToThree(bits: u64, last: u64): u64 {
  return before(bits, last, 2) | before(bits, last, 3) | before(bits, last, 4);
}
