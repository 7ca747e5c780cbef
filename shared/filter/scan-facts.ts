/**
 * Finds the facts of a stretch of bytes: of each line when a filter is built, of a needle when it is asked. One function
 * does both, so that what it finds in a needle it finds in every line that contains the needle. The only difference:
 * the ends of a line are known ends of its first and last run, those of a needle are not.
 */
import type { FactSet } from './fact-set.ts';
import {
  digitBit,
  gramBytes,
  gramFact,
  gramWord,
  letterBit,
  minTokenBytes,
  orderOf,
  prefixBytes,
  prefixFact,
  quadFact,
  sampleBytes,
  sampleFact,
  sampleOrderBytes,
  symbolOf,
  tokenFact,
} from './facts.ts';

// Looked up once: in a vm context, where tests run, each look at a global costs as much as a line.
const { min } = Math;

const dot = 0x2e;
const maxOctetDigits = 3;

/** Adds the facts of every line; `lineOffsets` holds `rows + 1` places in `lines`. */
export function scanLines(lines: Uint8Array, lineOffsets: Uint32Array, rows: number, found: FactSet): void {
  for (let row = 0; row < rows; row++) scanFacts(lines, lineOffsets[row], lineOffsets[row + 1], true, found);
}

/** Bytes looked at before what was found in them is added. */
const windowBytes = 4_096;
/** Grams of a window that were not seen lately, and its runs with a digit: start and end of each, and the line's last. */
const newGrams = new Int32Array(windowBytes);
const runs = new Int32Array(windowBytes + 4);

/**
 * Adds the facts of `bytes[start..end)`. With `endsAreKnown` a run that touches an end goes no further. The loop over the
 * bytes calls nothing: with the calls inside, V8 spills its registers or never settles on compiled code (30 ns a byte).
 */
export function scanFacts(
  bytes: Uint8Array,
  start: number,
  end: number,
  endsAreKnown: boolean,
  found: FactSet,
): void {
  const { seenGrams, seenShift } = found;
  let recent = 0;
  let sinceDigit = 0;
  let digits = 0;
  let runStart = start;
  for (let at = start; at < end; ) {
    const stop = min(at + windowBytes, end);
    let gramCount = 0;
    let runCount = 0;
    for (; at < stop; at++) {
      const symbol = symbolOf[bytes[at]];
      const older = recent >>> 24;
      recent = (recent << 8) | (symbol & 0xff);
      if ((symbol & digitBit) !== 0) {
        sinceDigit = 0;
        digits++;
        continue;
      }
      if (++sinceDigit >= gramBytes) {
        const word = gramWord(recent, older);
        const place = word >>> seenShift;
        if (seenGrams[place] !== word) {
          seenGrams[place] = word;
          newGrams[gramCount++] = word;
        }
      }
      if ((symbol & letterBit) !== 0) continue;
      if (digits > 0) {
        runs[runCount++] = runStart;
        runs[runCount++] = at;
        digits = 0;
      }
      runStart = at + 1;
    }
    if (at === end && digits > 0) {
      runs[runCount++] = runStart;
      runs[runCount++] = at;
    }
    for (let i = 0; i < gramCount; i++) found.add(gramFact(newGrams[i]));
    for (let i = 0; i < runCount; i += 2) {
      const from = runs[i];
      const to = runs[i + 1];
      scanRun(bytes, start, from, to, endsAreKnown || from > start, endsAreKnown || to < end, found);
      if (to < end && bytes[to] === dot) scanQuad(bytes, start, from, to, found);
    }
  }
}

/** One run of letters and digits that holds a digit; `startIsKnown`: the run does not begin before `from`. */
function scanRun(
  bytes: Uint8Array,
  start: number,
  from: number,
  to: number,
  startIsKnown: boolean,
  endIsKnown: boolean,
  found: FactSet,
): void {
  const length = to - from;
  if (length > found.longestRun) found.longestRun = length;
  if (length < minTokenBytes) return;
  if (startIsKnown && !isFraction(bytes, start, from)) {
    if (length >= prefixBytes) {
      if (hasDigit(bytes, from, from + prefixBytes)) {
        const rest = (lower(bytes[from + 4]) << 8) | lower(bytes[from + 5]);
        found.add(prefixFact(fourAt(bytes, from), rest));
      }
    } else if (endIsKnown) {
      found.add(tokenFact(fourAt(bytes, from), length > minTokenBytes ? lower(bytes[from + 4]) : 0));
    }
  }
  if (length >= sampleBytes) scanSamples(bytes, from, to, found);
}

/** Digits behind a dot: parts of seconds, durations and rates, as many as there are lines, and nobody's search. */
function isFraction(bytes: Uint8Array, start: number, from: number): boolean {
  return from > start && bytes[from - 1] === dot && isDigit(bytes[from]);
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (isDigit(bytes[at])) return true;
  return false;
}

function fourAt(bytes: Uint8Array, at: number): number {
  return (
    (lower(bytes[at]) << 24) |
    (lower(bytes[at + 1]) << 16) |
    (lower(bytes[at + 2]) << 8) |
    lower(bytes[at + 3])
  );
}

/** Orders of the pairs in the last eight bytes, one place for each: a run is read once. */
const orders = new Int32Array(sampleBytes);
const lastOrder = sampleBytes - 1;

/** A stretch of eight is a sample where the pair at one of its ends is the least of its pairs. */
function scanSamples(bytes: Uint8Array, from: number, to: number, found: FactSet): void {
  const span = sampleBytes - sampleOrderBytes;
  let lastDigit = -1;
  let high = 0;
  let low = 0;
  for (let at = from; at < to; at++) {
    const symbol = symbolOf[bytes[at]];
    const previous = low & 0xff;
    high = (high << 8) | (low >>> 24);
    low = (low << 8) | (symbol & 0xff);
    if ((symbol & digitBit) !== 0) lastDigit = at;
    // The pair that ends here.
    orders[at & lastOrder] = orderOf(previous, symbol & 0xff);
    const first = at - sampleBytes + 1;
    if (first < from || lastDigit < first) continue;
    const head = orders[(first + 1) & lastOrder];
    const tail = orders[at & lastOrder];
    const least = min(head, tail);
    let i = 1;
    while (i < span && orders[(first + 1 + i) & lastOrder] >= least) i++;
    if (i === span) found.add(sampleFact(high, low));
  }
}

/** The run `bytes[from..to)` ends at a dot: where it is a number behind a number between dots, the two are a quad. */
function scanQuad(bytes: Uint8Array, start: number, from: number, to: number, found: FactSet): void {
  if (to - from > maxOctetDigits || from - 1 <= start || bytes[from - 1] !== dot) return;
  for (let at = from; at < to; at++) if (!isDigit(bytes[at])) return;
  let before = from - 1;
  while (before > start && from - 1 - before < maxOctetDigits && isDigit(bytes[before - 1])) before--;
  if (before === from - 1 || before === start || bytes[before - 1] !== dot) return;
  found.add(quadFact(numberAt(bytes, before, from - 1), numberAt(bytes, from, to)));
}

function isDigit(byte: number): boolean {
  return (symbolOf[byte] & digitBit) !== 0;
}

function lower(byte: number): number {
  return symbolOf[byte] & 0xff;
}

function numberAt(bytes: Uint8Array, from: number, to: number): number {
  let value = to - from;
  for (let at = from; at < to; at++) value = (value << 8) | bytes[at];
  return value;
}
