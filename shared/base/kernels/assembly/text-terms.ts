/**
 * Extracts the terms of lines that a text index records (shared/execution/text-index/terms.ts). A text is folded and classified, 16
 * bytes at a time, into bitmaps of digits and of letters or digits. Later steps scan them, and read bytes only to compute a term.
 *
 * Memory: the term set, caches of recent grams and spans, then the host's input: offsets of lines, lines.
 */
import { bitsFrom, isSet, LOOK_BITS, nextClear, nextSet } from './bits';
import { heldByte } from './held';
import { SLACK } from './layout';
import { add, clearTermSet, settle, settleIfFull, TERM_SET_END } from './term-set';

// Seeds, part of the stored format: shared/execution/text-index/terms.ts.
const GRAM_SEED: u32 = 0x2545f491;
const TOKEN_SEED: u32 = 0x51ed270b;
const PREFIX_SEED: u32 = 0x3c6ef372;
const QUAD_SEED: u32 = 0x1b873593;
const SAMPLE_SEED: u32 = 0x7feb352d;
const GOLDEN: u32 = 0x9e3779b1;
const PART: u32 = 0;
const SAMPLE: u32 = 1;
const GRAM: u32 = 2;
const EXACT: u32 = 3;
const GRAM_BYTES: usize = 5;
const MIN_TOKEN_BYTES: usize = 4;
const PREFIX_BYTES: usize = 6;
const SAMPLE_BYTES: usize = 8;
const MAX_OCTET_DIGITS: usize = 3;

const DOT: u8 = 0x2e;

/** Maximum bytes and number of lines of one call. */
export const MAX_TERM_BYTES: usize = 1024 * 1024;
export const MAX_TERM_ROWS: usize = 65536;

/** Cache of recent gram words, indexed by their highest bits. Most grams of a page are in it, and need no lookup in the set. */
const GRAMS: usize = TERM_SET_END;
const GRAM_SHIFT: u32 = 18;
const GRAMS_BYTES: usize = 65536;
/** Cache of recent spans: offset in the lines plus 1, and length. */
const SPANS: usize = GRAMS + GRAMS_BYTES;
const SPAN_SHIFT: u32 = 19;
const SPANS_BYTES: usize = 65536;
/** Order values of the pairs of a run. */
const ORDERS: usize = SPANS + SPANS_BYTES;
const DIGITS: usize = ORDERS + 4 * (LOOK_BITS + 7);
const ALNUMS: usize = DIGITS + MAX_TERM_BYTES / 8 + SLACK;
export const TERM_OFFSETS: usize = ALNUMS + MAX_TERM_BYTES / 8 + SLACK;
export const TERM_LINES: usize = TERM_OFFSETS + 4 * (MAX_TERM_ROWS + 1) + SLACK;
export const TERM_BYTES: usize = TERM_LINES + MAX_TERM_BYTES + SLACK;

let longestRun: usize = 0;
/** Whether a text starts at its first byte, and ends at its last. If not, a run that touches that end may continue. */
let startIsKnown: bool = true;
let endIsKnown: bool = true;

/** Begins a page. */
export function clearTerms(): void {
  clearTermSet();
  memory.fill(GRAMS, 0, GRAMS_BYTES);
  longestRun = 0;
}

/** Returns the length of the longest run of letters and digits that contains a digit. */
export function longestTermRun(): u32 {
  return u32(longestRun);
}

/**
 * Adds the terms of the lines at TERM_LINES and folds them in place. `rows + 1` offsets at TERM_OFFSETS start with 0.
 * @param startKnown, endKnown Whether every line really starts and ends there
 */
export function scanTerms(rows: u32, startKnown: bool, endKnown: bool): void {
  startIsKnown = startKnown;
  endIsKnown = endKnown;
  memory.fill(SPANS, 0, SPANS_BYTES);
  const last = TERM_OFFSETS + (usize(rows) << 2);
  classify(usize(load<u32>(last)));
  for (let at = TERM_OFFSETS; at < last; at += 4) scanLine(usize(load<u32>(at)), usize(load<u32>(at, 4)));
  settle();
}

/** Folds ASCII letters to lower case, and sets a bit for each digit and for each letter or digit. */
function classify(bytes: usize): void {
  const zero = heldByte(ORDERS, 0x30);
  const ten = heldByte(ORDERS + 1, 10);
  const upperA = heldByte(ORDERS + 2, 0x41);
  const lowerA = heldByte(ORDERS + 3, 0x61);
  const letters = heldByte(ORDERS + 4, 26);
  const caseBit = heldByte(ORDERS + 5, 0x20);
  for (let at: usize = 0; at < bytes; at += 16) {
    const text = v128.load(TERM_LINES + at);
    const digit = i8x16.lt_u(i8x16.sub(text, zero), ten);
    const upper = i8x16.lt_u(i8x16.sub(text, upperA), letters);
    const folded = v128.or(text, v128.and(upper, caseBit));
    const letter = i8x16.lt_u(i8x16.sub(folded, lowerA), letters);
    v128.store(TERM_LINES + at, folded);
    store<u16>(DIGITS + (at >>> 3), u16(i8x16.bitmask(digit)));
    store<u16>(ALNUMS + (at >>> 3), u16(i8x16.bitmask(v128.or(digit, letter))));
  }
}

function scanLine(start: usize, end: usize): void {
  for (let at = start; at < end; ) {
    settleIfFull();
    const from = at;
    at = nextSet(DIGITS, at, end);
    if (at - from >= GRAM_BYTES && !hasSeen(from, at)) scanGrams(from, at);
    if (at === end) return;
    let runStart = at;
    while (runStart > from && isSet(ALNUMS, runStart - 1)) runStart--;
    const runEnd = nextClear(ALNUMS, at, end);
    scanRun(start, end, runStart, runEnd);
    if (runEnd < end && byteAt(runEnd) === DOT) scanQuad(start, runStart, runEnd);
    let lastDigit = runEnd - 1;
    while (!isSet(DIGITS, lastDigit)) lastDigit--;
    if (lastDigit - at > GRAM_BYTES) scanLetters(at, lastDigit);
    at = lastDigit + 1;
  }
}

/** Adds the grams of the letters between the digits of a run that ends with a digit. */
function scanLetters(from: usize, to: usize): void {
  if (to - from <= LOOK_BITS) {
    const letters = ~bitsFrom(DIGITS, from) & ((u64(1) << u64(to - from)) - 1);
    const pairs = letters & (letters >>> 1);
    if ((pairs & (pairs >>> 2) & (letters >>> 4)) === 0) return;
  }
  for (let at = from; at < to; ) {
    const first = nextClear(DIGITS, at, to);
    at = nextSet(DIGITS, first, to);
    if (at - first >= GRAM_BYTES) scanGrams(first, at);
  }
}

/**
 * Returns whether the bytes `from` to `to`, at least five, occurred before; records them if not. Lines of one page are similar:
 * most spans between digits occurred before, and have no new gram.
 */
function hasSeen(from: usize, to: usize): bool {
  const length = to - from;
  // The words at the ends, the middle and the quarters distinguish most lines.
  const quarter = (length - 4) >>> 2;
  let h: u32 = (u32(length) ^ word(from)) * GOLDEN;
  h = ((h ^ word(from + quarter)) * 0x85ebca6b) ^ (h >>> 15);
  h = ((h ^ word(from + 2 * quarter)) * 0xc2b2ae35) ^ (h >>> 13);
  h = ((h ^ word(from + 3 * quarter)) * GOLDEN) ^ (h >>> 15);
  h = (h ^ word(to - 4)) * 0x85ebca6b;
  const span = SPANS + (usize((h ^ (h >>> 11)) >>> SPAN_SHIFT) << 3);
  const known = load<u32>(span);
  if (known !== 0 && load<u32>(span, 4) === u32(length) && isSame(usize(known - 1), from, length))
    return true;
  store<u32>(span, u32(from) + 1);
  store<u32>(span, u32(length), 4);
  return false;
}

function isSame(a: usize, b: usize, length: usize): bool {
  if (length < 16) {
    for (let i: usize = 0; i + 4 < length; i += 4) if (word(a + i) !== word(b + i)) return false;
    return word(a + length - 4) === word(b + length - 4);
  }
  const last = length - 16;
  for (let i: usize = 0; i < last; i += 16)
    if (v128.any_true(v128.xor(text(a + i), text(b + i)))) return false;
  return !v128.any_true(v128.xor(text(a + last), text(b + last)));
}

/** Adds the grams that begin at `from` to `to - 5`, four at a time. */
function scanGrams(from: usize, to: usize): void {
  const golden = i32x4.splat(GOLDEN);
  const seed = i32x4.splat(GRAM_SEED);
  const one = i32x4.splat(1);
  const low = i32x4.splat(0xff);
  const last = to - 4;
  let at = from;
  for (; at + 4 <= last; at += 4) {
    const v = text(at);
    const recent = i8x16.shuffle(v, v, 4, 3, 2, 1, 5, 4, 3, 2, 6, 5, 4, 3, 7, 6, 5, 4);
    const older = v128.and(i8x16.shuffle(v, v, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3), low);
    const words = v128.or(i32x4.mul(v128.xor(recent, i32x4.mul(older, golden)), seed), one);
    addGram(i32x4.extract_lane(words, 0));
    addGram(i32x4.extract_lane(words, 1));
    addGram(i32x4.extract_lane(words, 2));
    addGram(i32x4.extract_lane(words, 3));
    settleIfFull();
  }
  for (; at < last; at++) addGram(((fourAt(at + 1) ^ (u32(byteAt(at)) * GOLDEN)) * GRAM_SEED) | 1);
}

// @inline
function addGram(gram: u32): void {
  const entry = GRAMS + (usize(gram >>> GRAM_SHIFT) << 2);
  if (load<u32>(entry) === gram) return;
  store<u32>(entry, gram);
  add(term(gram, 0, GRAM_SEED, GRAM));
}

/** Adds the terms of one run of letters and digits that contains a digit. */
function scanRun(start: usize, end: usize, from: usize, to: usize): void {
  const length = to - from;
  if (length > longestRun) longestRun = length;
  if (length < MIN_TOKEN_BYTES) return;
  // Skip digits after a dot: they are fractions of seconds, durations and rates, for which users do not search.
  const isFraction = from > start && byteAt(from - 1) === DOT && isSet(DIGITS, from);
  if ((startIsKnown || from > start) && !isFraction) {
    if (length >= PREFIX_BYTES) {
      const digits = bitsFrom(DIGITS, from) & 0x3f;
      const kind = digits === 0x3f ? EXACT : PART;
      if (digits !== 0) add(term(fourAt(from), fourAt(from + 2) & 0xffff, PREFIX_SEED, kind));
    } else if (endIsKnown || to < end) {
      add(term(fourAt(from), length > MIN_TOKEN_BYTES ? u32(byteAt(from + 4)) : 0, TOKEN_SEED, PART));
    }
  }
  if (length < SAMPLE_BYTES) return;
  // Process as many bytes as a load has bits. The eight-byte windows of a part begin where those of the previous one end.
  for (let at = from; at + SAMPLE_BYTES <= to; at += LOOK_BITS - SAMPLE_BYTES) {
    scanSamples(at, min(at + LOOK_BITS - 1, to));
    settleIfFull();
  }
}

/** Adds samples of a part of 8 to 56 bytes: windows of eight with a digit and the lowest order value of seven at one end. */
function scanSamples(from: usize, to: usize): void {
  const pairs = to - from - 1;
  const mark = i32x4.splat(0x10000);
  const golden = i32x4.splat(GOLDEN);
  const low = i32x4.splat(0xffff);
  for (let i: usize = 0; i < pairs; i += 4) {
    const v = text(from + i);
    const pair = v128.and(i8x16.shuffle(v, v, 1, 0, 0, 0, 2, 1, 1, 1, 3, 2, 2, 2, 4, 3, 3, 3), low);
    v128.store(ORDERS + (i << 2), i32x4.shr_u(i32x4.mul(v128.or(pair, mark), golden), 8));
  }
  // After the last pair, old order values only affect windows that are masked off.
  const windows = to - from - (SAMPLE_BYTES - 1);
  let digits = bitsFrom(DIGITS, from) & ((u64(1) << u64(to - from)) - 1);
  digits |= digits >>> 1;
  digits |= digits >>> 2;
  digits |= digits >>> 4;
  let found: u64 = 0;
  for (let i: usize = 0; i < windows; i += 4) {
    const o = ORDERS + (i << 2);
    const ends = i32x4.min_u(v128.load(o), v128.load(o, 24));
    const left = i32x4.min_u(v128.load(o, 4), v128.load(o, 8));
    const right = i32x4.min_u(v128.load(o, 12), v128.load(o, 16));
    const inner = i32x4.min_u(i32x4.min_u(left, right), v128.load(o, 20));
    found |= u64(i32x4.bitmask(i32x4.le_u(ends, inner))) << u64(i);
  }
  found &= digits & ((u64(1) << u64(windows)) - 1);
  while (found !== 0) {
    const at = from + usize(ctz(found));
    found &= found - 1;
    add(term(fourAt(at), fourAt(at + 4), SAMPLE_SEED, SAMPLE));
  }
}

/** Adds a term if the run `from` to `to` ends at a dot, is a number, and follows another number between dots. */
function scanQuad(start: usize, from: usize, to: usize): void {
  if (to - from > MAX_OCTET_DIGITS || from < start + 2 || byteAt(from - 1) !== DOT) return;
  for (let at = from; at < to; at++) if (!isSet(DIGITS, at)) return;
  const last = from - 1;
  let before = last;
  while (before > start && last - before < MAX_OCTET_DIGITS && isSet(DIGITS, before - 1)) before--;
  if (before === last || before === start || byteAt(before - 1) !== DOT) return;
  add(term(numberAt(before, last), numberAt(from, to), QUAD_SEED, EXACT));
}

function numberAt(from: usize, to: usize): u32 {
  let value = u32(to - from);
  for (let at = from; at < to; at++) value = (value << 8) | byteAt(at);
  return value;
}

/** Combines two words into one whose bits depend on all of theirs; the lowest two bits are the kind. */
// @inline
function term(a: u32, b: u32, seed: u32, kind: u32): u32 {
  let h = (a ^ seed) * GOLDEN;
  h = ((h ^ (h >>> 15)) + b) * 0x85ebca6b;
  h = (h ^ (h >>> 13)) * 0xc2b2ae35;
  return ((h ^ (h >>> 16)) & ~3) | kind;
}

// @inline
function byteAt(at: usize): u8 {
  return load<u8>(TERM_LINES + at);
}

// @inline
function word(at: usize): u32 {
  return load<u32>(TERM_LINES + at);
}

// @inline
function fourAt(at: usize): u32 {
  return bswap<u32>(word(at));
}

// @inline
function text(at: usize): v128 {
  return v128.load(TERM_LINES + at);
}
