/** Positions and texts of axis marks: values in round steps, times in UTC. */
import {
  MS_PER_DAY,
  MS_PER_HOUR,
  MS_PER_MINUTE,
  MS_PER_SECOND,
} from '../../../shared/base/model/time-units.ts';
import { shortNumber } from './number-text.ts';

export interface ValueAxis {
  readonly low: number;
  readonly high: number;
  /** Equally spaced marks from `low` to `high`. */
  readonly marks: readonly number[];
}

const STEPS = [1, 2, 2.5, 5, 10];
const SMALL_PART = 0.1;
/** Minimum relative difference of values. Marks between closer values would have too many digits to read. */
const NO_PART = 1e-9;
/** Minimum range of an axis. Numbers have too few digits to distinguish marks in a smaller one. */
const LEAST_RANGE = 1e-200;

/**
 * Axis with marks at round values. The first and last marks are at or beyond the values. It starts at zero if
 * no value is negative, because readers compare bars of counts and rates by height.
 */
export function valueAxis(least: number, most: number, maxMarks: number): ValueAxis {
  let low = Math.min(least, 0);
  let high = Math.max(most, 0);
  // An axis from zero would flatten large values that differ little into one line at the top.
  const size = Math.max(most, -least);
  if (most - least > NO_PART * size && most - least < SMALL_PART * size) {
    if (least > 0) low = least;
    if (most < 0) high = most;
  }
  if (high - low < LEAST_RANGE) high = low + 1;
  const rough = (high - low) / Math.max(1, maxMarks - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [...STEPS, 20]) {
    const step = factor * power;
    const first = Math.floor(low / step + 1e-9);
    const last = Math.ceil(high / step - 1e-9);
    if (last - first < maxMarks || factor === 20) {
      const marks = Array.from({ length: last - first + 1 }, (_, i) => rounded((first + i) * step));
      return { low: marks[0], high: marks.at(-1)!, marks };
    }
  }
  throw new RangeError(`no axis from ${least} to ${most}`);
}

/** Rounds 0.30000000000000004 to 0.3. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** Texts of the marks, all with as many digits as it takes to distinguish them. */
export function valueTexts(marks: readonly number[]): string[] {
  for (const digits of [3, 4, 5, 6]) {
    const texts = marks.map(mark => shortNumber(mark, digits));
    if (new Set(texts).size === marks.length) return texts;
  }
  return marks.map(mark => `${mark}`);
}

const TIME_STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map(count => count * MS_PER_SECOND),
  ...[1, 2, 5, 10, 15, 30].map(count => count * MS_PER_MINUTE),
  ...[1, 2, 3, 6, 12].map(count => count * MS_PER_HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map(count => count * MS_PER_DAY),
];

interface TimeMark {
  readonly ms: number;
  readonly text: string;
}

/** Up to `maxMarks` round times within the range. Their texts are only as precise as their distance. */
export function timeMarks(startMs: number, endMs: number, maxMarks: number): TimeMark[] {
  const span = endMs - startMs;
  const step = TIME_STEPS_MS.find(each => span / each < maxMarks) ?? TIME_STEPS_MS.at(-1)!;
  const marks: TimeMark[] = [];
  for (let ms = Math.ceil(startMs / step) * step; ms <= endMs && marks.length < maxMarks; ms += step) {
    marks.push({ ms, text: timeText(ms, step) });
  }
  return marks;
}

function timeText(ms: number, stepMs: number): string {
  const iso = new Date(ms).toISOString();
  if (stepMs >= MS_PER_DAY) return iso.slice(0, 10);
  if (ms % MS_PER_DAY === 0) return iso.slice(5, 10);
  return stepMs < MS_PER_MINUTE ? iso.slice(11, 19) : iso.slice(11, 16);
}
