/**
 * Finds the facts of a stretch of bytes: of each line when a filter is built, of a needle when it is asked. One function
 * does both, so that what it finds in a needle it finds in every line that contains the needle. The only difference:
 * the ends of a line are known ends of its first and last run, those of a needle are not.
 */
import type { FactSet } from './fact-set.ts';
import {
  digitBit,
  digitShift,
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
const { clz32, min } = Math;

const dot = 0x2e;
const maxOctetDigits = 3;

/** Adds the facts of every line; `lineOffsets` holds `rows + 1` places in `lines`. */
export function scanLines(lines: Uint8Array, lineOffsets: Uint32Array, rows: number, found: FactSet): void {
  for (let row = 0; row < rows; row++) scanFacts(lines, lineOffsets[row], lineOffsets[row + 1], true, found);
}

/**
 * Adds the facts of `bytes[start..end)`. With `endsAreKnown` a run that touches an end goes no further. Until `found` is cleared,
 * its bytes stay as they are.
 *
 * Grams lie in the stretches between digits. Lines of one page are much alike, so most stretches stood there before, byte for
 * byte, and have nothing new: to find that out takes a sixth of what their grams take.
 */
export function scanFacts(
  bytes: Uint8Array,
  start: number,
  end: number,
  endsAreKnown: boolean,
  found: FactSet,
): void {
  const stretches = found.stretchesOf(bytes);
  const { view } = stretches;
  for (let at = start; at < end; ) {
    const from = at;
    at = nextDigit(view, at, end);
    if (at - from >= gramBytes && !stretches.hasSeen(from, at)) scanGrams(bytes, from, at, found);
    if (at === end) return;
    let runStart = at;
    while (runStart > from && classOf[bytes[runStart - 1]] === letterClass) runStart--;
    // The rest of the run, without a branch on what its bytes are: in an id that is anybody's guess.
    let runEnd = at;
    let lastDigit = at;
    let letters = 0;
    let mostLetters = 0;
    for (; runEnd < end; runEnd++) {
      const kind = classOf[bytes[runEnd]];
      if (kind === otherClass) break;
      const isDigit = kind & digitClass;
      lastDigit += (runEnd - lastDigit) * isDigit;
      letters = (letters + 1) * (1 - isDigit);
      mostLetters |= letters;
    }
    const startIsKnown = endsAreKnown || runStart > start;
    scanRun(bytes, start, runStart, runEnd, startIsKnown, endsAreKnown || runEnd < end, found);
    if (runEnd < end && bytes[runEnd] === dot) scanQuad(bytes, start, runStart, runEnd, found);
    // Counts of letters in a row, one or-ed to the other, reach this where some count may have.
    if (mostLetters >= gramBytes) scanLetters(bytes, at, lastDigit, found);
    at = lastDigit + 1;
  }
}

/** Place of the first digit, or `end`. Four bytes a step: a byte is a digit where it differs from `0` by less than ten. */
function nextDigit(view: DataView, start: number, end: number): number {
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const apart = view.getInt32(at, true) ^ 0x30303030;
    const digits = ~(((apart & 0x7f7f7f7f) + 0x76767676) | apart) & 0x80808080;
    if (digits !== 0) return at + ((31 - clz32(digits & -digits)) >>> 3);
  }
  while (at < end && classOf[view.getUint8(at)] !== digitClass) at++;
  return at;
}

/** Grams of the letters between the digits of a run, which ends with one. */
function scanLetters(bytes: Uint8Array, from: number, to: number, found: FactSet): void {
  for (let at = from; at < to; at++) {
    const first = at;
    while (at < to && classOf[bytes[at]] === letterClass) at++;
    if (at - first >= gramBytes) scanGrams(bytes, first, at, found);
  }
}

const otherClass = 0;
const digitClass = 1;
const letterClass = 2;
/** What a loop over all bytes of a page looks at. */
const classOf = Uint8Array.from(symbolOf, symbol => {
  if ((symbol & digitBit) !== 0) return digitClass;
  return (symbol & letterBit) !== 0 ? letterClass : otherClass;
});

/** Bytes looked at before what was found in them is added. */
const windowBytes = 4_096;
/** Grams of a window that were not seen lately. */
const newGrams = new Int32Array(windowBytes);

/**
 * Grams of a stretch without digits. The loop over the bytes calls nothing: with the calls inside, V8 spills its registers or
 * never settles on compiled code (30 ns a byte).
 */
function scanGrams(bytes: Uint8Array, from: number, to: number, found: FactSet): void {
  const { seenGrams, seenShift } = found;
  let recent = fourAt(bytes, from);
  for (let at = from + gramBytes - 1; at < to; ) {
    const stop = min(at + windowBytes, to);
    let count = 0;
    for (; at < stop; at++) {
      const older = recent >>> 24;
      recent = (recent << 8) | (symbolOf[bytes[at]] & 0xff);
      const word = gramWord(recent, older);
      const place = word >>> seenShift;
      if (seenGrams[place] !== word) {
        seenGrams[place] = word;
        newGrams[count++] = word;
      }
    }
    for (let i = 0; i < count; i++) found.add(gramFact(newGrams[i]));
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

/**
 * A stretch of eight is a sample where the pair at one of its ends is the least of its pairs, or as little. The place of the
 * least so far is kept, the last one of equal ones, and looked for anew where it has left the stretch.
 */
function scanSamples(bytes: Uint8Array, from: number, to: number, found: FactSet): void {
  const head = sampleBytes - sampleOrderBytes;
  let lastDigit = -1;
  let high = 0;
  let low = 0;
  let leastAt = -1;
  let least = 0;
  for (let at = from; at < to; at++) {
    const symbol = symbolOf[bytes[at]];
    const previous = low & 0xff;
    high = (high << 8) | (low >>> 24);
    low = (low << 8) | (symbol & 0xff);
    lastDigit += (at - lastDigit) * ((symbol >>> digitShift) & 1);
    if (at === from) continue;
    // The pair that ends here.
    const order = orderOf(previous, symbol & 0xff);
    orders[at & lastOrder] = order;
    // The pair that begins the stretch.
    const first = at - head;
    if (leastAt < 0 || order <= least) {
      least = order;
      leastAt = at;
    } else if (leastAt < first) {
      leastAt = first;
      least = orders[first & lastOrder];
      for (let i = first + 1; i <= at; i++) {
        if (orders[i & lastOrder] > least) continue;
        least = orders[i & lastOrder];
        leastAt = i;
      }
    }
    if (first <= from || lastDigit < first - 1) continue;
    if (leastAt === at || orders[first & lastOrder] === least) found.add(sampleFact(high, low));
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
