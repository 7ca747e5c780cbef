/**
 * Extracts the terms of lines that a text index records (shared/execution/text-index/terms.ts). Bitmaps of the lines (term-maps.ts)
 * show where terms end, and bytes are only read to compute a term.
 */
import { bitsFrom, isSet, LOOK_BITS, nextClear, nextSet } from './bits';
import { clearSpans, hasSeen } from './recent-spans';
import {
  ALNUMS,
  byteAt,
  DIGITS,
  fourAt,
  GRAM_ENDS,
  GRAM_SHIFT,
  GRAMS,
  GRAMS_BYTES,
  ORDERS,
  QUAD_ENDS,
  TERM_OFFSETS,
  TOKEN_ENDS,
  text,
} from './term-layout';
import { classify } from './term-maps';
import { add, clearTermSet, settle, settleIfFull } from './term-set';
import { DOT } from './text-bytes';

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
export const GRAM_BYTES: usize = 5;
export const MIN_TOKEN_BYTES: usize = 4;
export const PREFIX_BYTES: usize = 6;
export const SAMPLE_BYTES: usize = 8;
const MAX_OCTET_DIGITS: usize = 3;

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
  clearSpans();
  const last = TERM_OFFSETS + (usize(rows) << 2);
  const bytes = usize(load<u32>(last));
  classify(bytes);
  for (let at = TERM_OFFSETS; at < last; at += 4) {
    const start = usize(load<u32>(at));
    const end = usize(load<u32>(at, 4));
    scanSpans(start, end);
    scanRuns(start, end);
  }
  scanQuads(bytes);
  if (longestRun < MIN_TOKEN_BYTES) {
    for (let at = TERM_OFFSETS; at < last; at += 4)
      measureRuns(usize(load<u32>(at)), usize(load<u32>(at, 4)));
  }
  settle();
}

/** Adds the grams of a line. */
function scanSpans(start: usize, end: usize): void {
  // A gram that ends before has bytes of the line before.
  for (let at = start + GRAM_BYTES - 1; at < end; ) {
    at = nextSet(GRAM_ENDS, at, end);
    if (at === end) return;
    const from = at + 1 - GRAM_BYTES;
    at = nextSet(DIGITS, at, end);
    if (!hasSeen(from, at)) scanGrams(from, at);
    settleIfFull();
  }
}

/** Adds the terms of the runs of letters and digits of a line that have a token or more. */
function scanRuns(start: usize, end: usize): void {
  let floor = start;
  for (let at = start + MIN_TOKEN_BYTES - 1; at < end; ) {
    at = nextSet(TOKEN_ENDS, at, end);
    if (at === end) return;
    const from = runStart(at, floor);
    at = nextClear(ALNUMS, at, end);
    scanRun(start, end, from, at);
    floor = at;
    settleIfFull();
  }
}

/** Returns the start of the run of letters and digits around `at`, at least `floor`. */
// @inline
function runStart(at: usize, floor: usize): usize {
  for (let to = at; to > floor; ) {
    const from = to - floor > LOOK_BITS ? to - LOOK_BITS : floor;
    const gaps = ~bitsFrom(ALNUMS, from) & ((u64(1) << u64(to - from)) - 1);
    if (gaps !== 0) return from + 64 - usize(clz(gaps));
    to = from;
  }
  return floor;
}

/** Adds the pairs of numbers between dots. */
function scanQuads(bytes: usize): void {
  let row = TERM_OFFSETS;
  for (let at: usize = 0; at < bytes; at += 64) {
    let ends = load<u64>(QUAD_ENDS + (at >>> 3));
    while (ends !== 0) {
      const dot = at + usize(ctz(ends));
      ends &= ends - 1;
      if (dot >= bytes) return;
      while (usize(load<u32>(row, 4)) <= dot) row += 4;
      scanQuad(usize(load<u32>(row)), dot);
      settleIfFull();
    }
  }
}

/** Finds the longest run with a digit in a line that has only short ones. */
function measureRuns(start: usize, end: usize): void {
  for (let at = start; at < end; ) {
    at = nextSet(DIGITS, at, end);
    if (at === end) return;
    const from = runStart(at, start);
    at = nextClear(ALNUMS, at, end);
    longestRun = max(longestRun, at - from);
  }
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

/**
 * Adds the terms of a run of up to 7 digits that does not follow a dot.
 * @param at Address. Up to 7 bytes after it are read
 */
// @inline
export function addDigits(at: usize, digits: usize): void {
  if (digits < MIN_TOKEN_BYTES) return;
  if (digits > longestRun) longestRun = digits;
  const first = bswap<u32>(load<u32>(at));
  if (digits >= PREFIX_BYTES) {
    add(term(first, bswap<u32>(load<u32>(at, 2)) & 0xffff, PREFIX_SEED, EXACT));
  } else {
    add(term(first, digits > MIN_TOKEN_BYTES ? u32(load<u8>(at, 4)) : 0, TOKEN_SEED, PART));
  }
  settleIfFull();
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

/** Adds a term if a number ends at this dot, and follows another number between dots. */
function scanQuad(start: usize, dot: usize): void {
  const from = numberStart(start, dot);
  if (from === 0) return;
  const before = numberStart(start, from - 1);
  if (before === 0) return;
  add(term(numberAt(before, from - 1), numberAt(from, dot), QUAD_SEED, EXACT));
}

/** Returns the start of the number of up to three digits from a dot to `to`, or 0. */
function numberStart(start: usize, to: usize): usize {
  let from = to;
  while (from > start && to - from < MAX_OCTET_DIGITS && isSet(DIGITS, from - 1)) from--;
  return from < to && from > start && byteAt(from - 1) === DOT ? from : 0;
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
