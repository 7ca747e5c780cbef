/**
 * Computes the terms of whole field values from the members of lines.
 * shared/execution/text-index/value-terms.ts explains which values are recorded. Values of up to twelve bytes
 * are read with one load.
 */
import {
  CELL_TEXT,
  FIELD_LINES,
  KEY_WORDS,
  MEMBER_ENDS,
  MEMBER_ENTRIES,
  MEMBER_KINDS,
  MEMBER_STARTS,
  VALUE_TERMS,
} from './field-layout';
import { heldByte } from './held';
import { VALUE } from './member-list';

// Constants of the stored format: shared/execution/text-index/terms.ts and value-terms.ts.
const VALUE_SEED: u32 = 0x2c1b3c6d;
const EXACT: u32 = 3;
const MAX_VALUE_BYTES: usize = 12;
const MIN_TOKEN_BYTES: usize = 4;
const PREFIX_MASK: u32 = 0x3f;

const MINUS: u8 = 0x2d;

/**
 * Writes the terms of members `from` to `to` of a list to VALUE_TERMS, except of values with escapes. Returns
 * their number.
 * @param firstByte Start of the lines at FIELD_LINES, in their page
 */
export function makeValueTerms(list: usize, from: u32, to: u32, firstByte: usize): u32 {
  const space = heldByte(CELL_TEXT, 0x20);
  const zero = heldByte(CELL_TEXT + 1, 0x30);
  const ten = heldByte(CELL_TEXT + 2, 10);
  const a = heldByte(CELL_TEXT + 3, 0x61);
  const letters = heldByte(CELL_TEXT + 4, 26);
  const dot = heldByte(CELL_TEXT + 5, 0x2e);
  let out = VALUE_TERMS;
  for (let i = usize(from); i < usize(to); i++) {
    const at = list + (i << 2);
    const start = usize(load<u32>(at, MEMBER_STARTS));
    const length = usize(load<u32>(at, MEMBER_ENDS)) - start;
    // For an empty value, the subtraction wraps to a large number, so one comparison also excludes it.
    if (length - 1 >= MAX_VALUE_BYTES || load<u8>(list + i, MEMBER_KINDS) !== VALUE) continue;
    const value = FIELD_LINES + start - firstByte;
    if (!isRecorded(value, length, space, zero, ten, a, letters, dot)) continue;
    const word = load<u32>(KEY_WORDS + (usize(load<u32>(at, MEMBER_ENTRIES)) << 2));
    store<u32>(out, valueTerm(word, hashOf(value, length)));
    out += 4;
  }
  return u32((out - VALUE_TERMS) >>> 2);
}

// @inline
function isRecorded(
  at: usize,
  length: usize,
  space: v128,
  zero: v128,
  ten: v128,
  a: v128,
  letters: v128,
  dot: v128,
): bool {
  const v = v128.load(at);
  const own: u32 = (1 << u32(length)) - 1;
  if ((i8x16.bitmask(i8x16.eq(v, space)) & own) !== 0) return false;
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, zero), ten)) & own;
  const inLetters = i8x16.lt_u(i8x16.sub(v128.or(v, space), a), letters);
  const all = (i8x16.bitmask(inLetters) & own) | digits;
  const dots = i8x16.bitmask(i8x16.eq(v, dot)) & own;
  // Exclude numbers with a fraction.
  const first: u32 = load<u8>(at) === MINUS && length > 1 ? 2 : 1;
  if (dots !== 0 && (digits & first) !== 0) return false;
  // Exclude a single run of letters and digits that has a token or a prefix.
  return all !== own || length < MIN_TOKEN_BYTES || (digits & PREFIX_MASK) === 0;
}

/** Hashes four bytes per step; the last one to three bytes form one more word. */
function hashOf(from: usize, length: usize): u32 {
  // The length would be mixed in twice, and so cancel out.
  let h: u32 = 0;
  const end = from + length;
  let at = from;
  for (; at + 4 <= end; at += 4) {
    h = (h ^ load<u32>(at)) * 0x85ebca6b;
    h ^= h >>> 15;
  }
  let rest: u32 = 0;
  for (; at < end; at++) rest = (rest << 8) | load<u8>(at);
  h = (h ^ rest) * 0xc2b2ae35;
  return h ^ (h >>> 16);
}

// @inline
function valueTerm(name: u32, value: u32): u32 {
  let h = (name ^ VALUE_SEED) * 0x9e3779b1;
  h = ((h ^ (h >>> 15)) + value) * 0x85ebca6b;
  h = (h ^ (h >>> 13)) * 0xc2b2ae35;
  return ((h ^ (h >>> 16)) & ~3) | EXACT;
}
