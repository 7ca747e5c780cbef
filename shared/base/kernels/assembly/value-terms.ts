/**
 * Computes the terms of whole field values from the members of lines.
 * shared/execution/text-index/value-terms.ts explains which values are recorded. Values of up to twelve bytes
 * are read with one load.
 */
import {
  FIELD_LINES,
  KEY_WORDS,
  MEMBER_ENDS,
  MEMBER_ENTRIES,
  MEMBER_KINDS,
  MEMBER_STARTS,
  VALUE_TERMS,
} from './field-layout';
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
  let out = VALUE_TERMS;
  for (let i = usize(from); i < usize(to); i++) {
    const at = list + (i << 2);
    const start = usize(load<u32>(at, MEMBER_STARTS));
    const length = usize(load<u32>(at, MEMBER_ENDS)) - start;
    // For an empty value, the subtraction wraps to a large number, so one comparison also excludes it.
    if (length - 1 >= MAX_VALUE_BYTES || load<u8>(list + i, MEMBER_KINDS) !== VALUE) continue;
    const value = FIELD_LINES + start - firstByte;
    if (!isRecorded(value, length)) continue;
    const word = load<u32>(KEY_WORDS + (usize(load<u32>(at, MEMBER_ENTRIES)) << 2));
    store<u32>(out, valueTerm(word, hashOf(value, length)));
    out += 4;
  }
  return u32((out - VALUE_TERMS) >>> 2);
}

function isRecorded(at: usize, length: usize): bool {
  const v = v128.load(at);
  const own: u32 = (1 << u32(length)) - 1;
  if ((i8x16.bitmask(i8x16.eq(v, i8x16.splat(0x20))) & own) !== 0) return false;
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, i8x16.splat(0x30)), i8x16.splat(10))) & own;
  const folded = v128.or(v, i8x16.splat(0x20));
  const letters = i8x16.bitmask(i8x16.lt_u(i8x16.sub(folded, i8x16.splat(0x61)), i8x16.splat(26))) & own;
  const dots = i8x16.bitmask(i8x16.eq(v, i8x16.splat(0x2e))) & own;
  // Exclude numbers with a fraction.
  const first: u32 = load<u8>(at) === MINUS && length > 1 ? 2 : 1;
  if (dots !== 0 && (digits & first) !== 0) return false;
  // Exclude a single run of letters and digits that has a token or a prefix.
  return (digits | letters) !== own || length < MIN_TOKEN_BYTES || (digits & PREFIX_MASK) === 0;
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
