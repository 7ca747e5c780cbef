/** Steps of charts: round ones, as many as there is room for, lying on whole multiples so that they stay when the range moves. */
import type { ResolvedRange } from './time-range.ts';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const STEPS_MS: readonly number[] = [
  ...[S, 2 * S, 5 * S, 10 * S, 15 * S, 30 * S],
  ...[M, 2 * M, 5 * M, 10 * M, 15 * M, 30 * M],
  ...[H, 2 * H, 3 * H, 6 * H, 12 * H],
  ...[D, 2 * D, 7 * D, 14 * D, 30 * D, 90 * D, 365 * D],
];

/** The smallest round step with which at most `most` of them cover the range. */
export function stepFor({ fromMs, toMs }: ResolvedRange, most: number): number {
  return STEPS_MS.find(step => (toMs - fromMs) / step <= most) ?? STEPS_MS[STEPS_MS.length - 1];
}

/**
 * The instants of a query that counts in windows of a step: each instant ends a window, the first window holds the beginning of
 * the range and the last one its end.
 */
export function windowEnds({ fromMs, toMs }: ResolvedRange, stepMs: number): ResolvedRange {
  return {
    fromMs: Math.floor(fromMs / stepMs) * stepMs + stepMs,
    toMs: Math.ceil(toMs / stepMs) * stepMs,
  };
}

/** A window that is counted by a separate query, because it begins or ends with the range. */
export interface CutWindow {
  /** Of the windows of `windowEnds`, from 0. */
  readonly index: number;
  readonly endMs: number;
  readonly widthMs: number;
}

export interface CountedWindows {
  readonly cut: readonly CutWindow[];
  /** The ends of the windows between the first and the last. */
  readonly whole: ResolvedRange | undefined;
}

/**
 * The windows of `windowEnds`, cut where the range begins and ends. Windows of LogQL hold their end and not their beginning, lists
 * of entries the reverse, so both cuts are a millisecond earlier: exact for timestamps of whole milliseconds. LogQL has no windows of
 * nanoseconds. An offset of one would be exact, but the store counts whole minutes without reading entries, and nothing else.
 */
export function countedWindows(range: ResolvedRange, stepMs: number): CountedWindows {
  const { fromMs: firstEnd, toMs: lastEnd } = windowEnds(range, stepMs);
  const last = Math.round((lastEnd - firstEnd) / stepMs);
  const beginMs = range.fromMs - 1;
  const endMs = range.toMs - 1;
  if (last === 0) return { cut: [{ index: 0, endMs, widthMs: endMs - beginMs }], whole: undefined };
  const beforeLast = lastEnd - stepMs;
  const cut = [{ index: 0, endMs: firstEnd, widthMs: firstEnd - beginMs }];
  // A range that ends a millisecond behind a window has no other part in the last one.
  if (endMs > beforeLast) cut.push({ index: last, endMs, widthMs: endMs - beforeLast });
  return { cut, whole: last === 1 ? undefined : { fromMs: firstEnd + stepMs, toMs: beforeLast } };
}

/** As LogQL writes it. */
export function stepText(stepMs: number): string {
  return stepMs % S === 0 ? `${stepMs / S}s` : `${stepMs}ms`;
}

/** As people say it: `5 min`. */
export function stepName(stepMs: number): string {
  const [unit, name] =
    stepMs % D === 0 ? [D, 'd'] : stepMs % H === 0 ? [H, 'h'] : stepMs % M === 0 ? [M, 'min'] : [S, 's'];
  return `${stepMs / unit} ${name}`;
}
