/**
 * Converts label values to numbers, durations and sizes (docs/dev/logql-semantics.md#label-filters, #sample-values). Common forms are read
 * directly from the bytes. All others use the exact parsers of shared/base/model, whose error texts are Go's.
 */
import { parseByteSize } from '../../base/model/byte-size.ts';
import { parseGoDuration, secondsOfDuration } from '../../base/model/duration.ts';
import { messageOf } from '../../base/model/errors.ts';
import { parseFloatError, parseGoFloat } from '../../base/model/number.ts';
import { quote } from '../../base/model/quote.ts';
import { NS_OF_SECOND } from '../../base/model/time-units.ts';
import { KIND_CLEAN, KIND_RAW, PARSED, type RowLabels } from './row-labels.ts';

/** Result of converting a label's value. Each user has one object, which every conversion overwrites. */
export interface Converted {
  /** False if the label is absent. */
  present: boolean;
  /** Go's error text, or undefined. */
  error: string | undefined;
  value: number;
  /** Set for durations that `value` (ns) cannot represent exactly. */
  exactNs: bigint | undefined;
}

export function newConverted(): Converted {
  return { present: false, error: undefined, value: 0, exactNs: undefined };
}

/** Converts label `id` into `out`. */
export type Conversion = (labels: RowLabels, id: number, out: Converted) => void;

/** Maximum digits that a double represents exactly together with a power of ten of the same length. */
const MAX_EXACT_DIGITS = 15;
const POWERS_OF_TEN = Float64Array.from({ length: MAX_EXACT_DIGITS + 1 }, (_, i) => 10 ** i);

/** Result of the latest `scanDecimal`: digits as a whole number, the number of decimals, and the end. */
const SCAN = { digits: 0, places: 0, end: 0 };

/** Reads `123` or `12.5` (at most 15 digits). Returns false if the bytes do not start with such a number. */
function scanDecimal(source: Buffer, start: number, end: number): boolean {
  let at = start;
  let digits = 0;
  let byte = 0;
  while (at < end && (byte = source[at]) >= 0x30 && byte <= 0x39) {
    digits = digits * 10 + (byte - 0x30);
    at++;
  }
  const whole = at - start;
  if (whole === 0 || whole > MAX_EXACT_DIGITS) return false;
  SCAN.places = 0;
  if (at < end && source[at] === 0x2e) {
    const dot = at++;
    while (at < end && (byte = source[at]) >= 0x30 && byte <= 0x39) {
      digits = digits * 10 + (byte - 0x30);
      at++;
    }
    SCAN.places = at - dot - 1;
    if (SCAN.places === 0 || whole + SCAN.places > MAX_EXACT_DIGITS) return false;
  }
  SCAN.digits = digits;
  SCAN.end = at;
  return true;
}

/** Converts a label as Go's ParseFloat does. */
export function convertNumber(labels: RowLabels, id: number, out: Converted): void {
  out.error = undefined;
  const kind = labels.lookup(id);
  if (kind === PARSED) {
    const index = labels.valueIndexOf(id);
    const valueKind = labels.valueKinds[index];
    if (valueKind === KIND_CLEAN || valueKind === KIND_RAW) {
      const source = labels.valueSources[index];
      const start = labels.valueStarts[index];
      const end = labels.valueEnds[index];
      const negative = source[start] === 0x2d && start < end;
      if (scanDecimal(source, negative ? start + 1 : start, end) && SCAN.end === end) {
        const value = SCAN.digits / POWERS_OF_TEN[SCAN.places];
        out.present = true;
        out.value = negative ? -value : value;
        return;
      }
    }
  }
  const text = labels.get(id);
  out.present = text !== undefined;
  if (text !== undefined) numberOfText(text, out);
}

/** Converts a text as Go's ParseFloat does. */
function numberOfText(text: string, out: Converted): void {
  const value = parseGoFloat(text);
  out.value = value ?? 0;
  out.error = undefined;
  if (value === undefined) out.error = parseFloatError(text);
  else if (Math.abs(value) === Infinity && !/inf/i.test(text)) {
    out.error = `strconv.ParseFloat: parsing ${quote(text)}: value out of range`;
  }
}

/** Converts a label as Go's ParseDuration does, ns. */
export function convertDuration(labels: RowLabels, id: number, out: Converted): void {
  out.error = undefined;
  out.exactNs = undefined;
  if (labels.lookup(id) === PARSED) {
    const index = labels.valueIndexOf(id);
    const valueKind = labels.valueKinds[index];
    if (valueKind === KIND_CLEAN || valueKind === KIND_RAW) {
      const source = labels.valueSources[index];
      const end = labels.valueEnds[index];
      if (scanDecimal(source, labels.valueStarts[index], end)) {
        const scaled = SCAN.digits * unitNs(source, SCAN.end, end);
        if (scaled > 0 && scaled <= Number.MAX_SAFE_INTEGER) {
          out.present = true;
          out.value = Math.floor(scaled / POWERS_OF_TEN[SCAN.places]);
          return;
        }
      }
    }
  }
  const text = labels.get(id);
  out.present = text !== undefined;
  if (text !== undefined) durationOfText(text, out);
}

/** Converts a text as Go's ParseDuration does, ns. */
function durationOfText(text: string, out: Converted): void {
  out.error = undefined;
  out.exactNs = undefined;
  try {
    const ns = parseGoDuration(text);
    out.value = Number(ns);
    if (!Number.isSafeInteger(out.value)) out.exactNs = ns;
  } catch (error) {
    out.value = 0;
    out.error = messageOf(error);
  }
}

/** Returns the nanoseconds of the unit in `start` to `end`, or 0. */
function unitNs(source: Buffer, start: number, end: number): number {
  const first = source[start];
  switch (end - start) {
    case 1:
      if (first === 0x73) return 1e9;
      if (first === 0x6d) return 60e9;
      return first === 0x68 ? 3600e9 : 0;
    case 2:
      if (source[start + 1] !== 0x73) return 0;
      if (first === 0x6d) return 1e6;
      if (first === 0x75) return 1e3;
      return first === 0x6e ? 1 : 0;
    case 3: {
      // Two characters look like mu: U+00B5 and U+03BC.
      const second = source[start + 1];
      const isMu = (first === 0xc2 && second === 0xb5) || (first === 0xce && second === 0xbc);
      return isMu && source[start + 2] === 0x73 ? 1e3 : 0;
    }
    default:
      return 0;
  }
}

/** Converts a duration to seconds. Whole seconds and the fraction are converted separately, as in Go. */
export function convertSeconds(labels: RowLabels, id: number, out: Converted): void {
  convertDuration(labels, id, out);
  if (!out.present || out.error !== undefined) return;
  if (out.exactNs !== undefined) {
    out.value = secondsOfDuration(out.exactNs);
    out.exactNs = undefined;
    return;
  }
  const seconds = Math.trunc(out.value / NS_OF_SECOND);
  out.value = seconds + (out.value - seconds * NS_OF_SECOND) / NS_OF_SECOND;
}

/** Converts a size to bytes (docs/dev/logql-semantics.md#byte-sizes). */
export function convertBytes(labels: RowLabels, id: number, out: Converted): void {
  out.error = undefined;
  if (labels.lookup(id) === PARSED) {
    const index = labels.valueIndexOf(id);
    const valueKind = labels.valueKinds[index];
    if (valueKind === KIND_CLEAN || valueKind === KIND_RAW) {
      const source = labels.valueSources[index];
      const end = labels.valueEnds[index];
      if (scanDecimal(source, labels.valueStarts[index], end)) {
        const factor = unitBytes(source, SCAN.end, end);
        const bytes = (SCAN.digits / POWERS_OF_TEN[SCAN.places]) * factor;
        // A value that is too large is an error, which includes its text.
        if (factor > 0 && bytes <= Number.MAX_SAFE_INTEGER) {
          out.present = true;
          out.value = Math.trunc(bytes);
          return;
        }
      }
    }
  }
  const text = labels.get(id);
  out.present = text !== undefined;
  if (text === undefined) return;
  try {
    out.value = parseByteSize(text);
  } catch (error) {
    out.value = 0;
    out.error = messageOf(error);
  }
}

const SIZE_LETTERS = 'kmgt';

/** Returns the bytes of the unit in `start` to `end` (`''`, `B`, `kB`, `KiB`, up to tera), or 0. */
function unitBytes(source: Buffer, start: number, end: number): number {
  let at = start;
  let factor = 1;
  const power = at < end ? SIZE_LETTERS.indexOf(String.fromCharCode(source[at] | 0x20)) + 1 : 0;
  if (power > 0) {
    at++;
    const isBinary = at < end && (source[at] | 0x20) === 0x69;
    if (isBinary) at++;
    factor = (isBinary ? 1024 : 1000) ** power;
  }
  if (at < end && (source[at] | 0x20) === 0x62) at++;
  return at === end ? factor : 0;
}
