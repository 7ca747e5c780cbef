/** Round chart steps, as many as fit, on whole multiples, so that they stay when the range moves. */
import {
  MS_PER_DAY as D,
  MS_PER_HOUR as H,
  MS_PER_MINUTE as M,
  MS_PER_SECOND as S,
} from '../../../shared/base/model/time-units.ts';
import type { ResolvedRange } from './time-range.ts';

const STEPS_MS: readonly number[] = [
  ...[S, 2 * S, 5 * S, 10 * S, 15 * S, 30 * S],
  ...[M, 2 * M, 5 * M, 10 * M, 15 * M, 30 * M],
  ...[H, 2 * H, 3 * H, 6 * H, 12 * H],
  ...[D, 2 * D, 7 * D, 14 * D, 30 * D, 90 * D, 365 * D],
];

/** Smallest round step with which up to `most` steps cover the range. */
export function stepFor({ fromMs, toMs }: ResolvedRange, most: number): number {
  return STEPS_MS.find(step => (toMs - fromMs) / step <= most) ?? STEPS_MS[STEPS_MS.length - 1];
}

/**
 * Instants of a query that counts in windows of a step. Each instant ends a window. The first window contains
 * the start of the range, the last one its end.
 */
export function windowEnds({ fromMs, toMs }: ResolvedRange, stepMs: number): ResolvedRange {
  return {
    fromMs: Math.floor(fromMs / stepMs) * stepMs + stepMs,
    toMs: Math.ceil(toMs / stepMs) * stepMs,
  };
}

/** Window at the start or end of the range, which needs a separate query. */
interface CutWindow {
  /** Index in the windows of `windowEnds`, from 0. */
  readonly index: number;
  readonly endMs: number;
  readonly widthMs: number;
}

interface CountedWindows {
  readonly cut: readonly CutWindow[];
  /** Ends of the windows between the first and the last. */
  readonly whole: ResolvedRange | undefined;
}

/**
 * Windows of `windowEnds`, cut at the start and end of the range. LogQL windows exclude their start and
 * include their end; entry lists are the reverse. So both cuts are 1 ms earlier, which is exact for
 * timestamps in whole milliseconds. LogQL has no windows in nanoseconds. An offset of 1 ns would be exact,
 * but the store counts only whole minutes without reading entries.
 */
export function countedWindows(range: ResolvedRange, stepMs: number): CountedWindows {
  const { fromMs: firstEnd, toMs: lastEnd } = windowEnds(range, stepMs);
  const last = Math.round((lastEnd - firstEnd) / stepMs);
  const beginMs = range.fromMs - 1;
  const endMs = range.toMs - 1;
  if (last === 0) return { cut: [{ index: 0, endMs, widthMs: endMs - beginMs }], whole: undefined };
  const beforeLast = lastEnd - stepMs;
  const cut = [{ index: 0, endMs: firstEnd, widthMs: firstEnd - beginMs }];
  // A range that ends 1 ms after a window has no other part in the last one.
  if (endMs > beforeLast) cut.push({ index: last, endMs, widthMs: endMs - beforeLast });
  return { cut, whole: last === 1 ? undefined : { fromMs: firstEnd + stepMs, toMs: beforeLast } };
}

/** Step in LogQL syntax. */
export function stepText(stepMs: number): string {
  return stepMs % S === 0 ? `${stepMs / S}s` : `${stepMs}ms`;
}

/** Step for people: `5 min`. */
export function stepName(stepMs: number): string {
  const [unit, name] =
    stepMs % D === 0 ? [D, 'd'] : stepMs % H === 0 ? [H, 'h'] : stepMs % M === 0 ? [M, 'min'] : [S, 's'];
  return `${stepMs / unit} ${name}`;
}
