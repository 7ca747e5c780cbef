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

/** A window that is counted by itself, because the range cuts it. */
export interface CutWindow {
  /** Of the windows of `windowEnds`, from 0. */
  readonly index: number;
  readonly endMs: number;
  readonly widthMs: number;
}

export interface CountedWindows {
  readonly cut: readonly CutWindow[];
  /** The ends of the windows that the range does not cut. */
  readonly whole: ResolvedRange | undefined;
}

/** The windows of `windowEnds`, cut where the range begins and ends. */
export function countedWindows(range: ResolvedRange, stepMs: number): CountedWindows {
  const { fromMs: firstEnd, toMs: lastEnd } = windowEnds(range, stepMs);
  const last = Math.round((lastEnd - firstEnd) / stepMs);
  const cut: CutWindow[] = [];
  let [fromMs, toMs] = [firstEnd, lastEnd];
  if (firstEnd - range.fromMs < stepMs || (last === 0 && range.toMs < lastEnd)) {
    const endMs = Math.min(firstEnd, range.toMs);
    cut.push({ index: 0, endMs, widthMs: endMs - range.fromMs });
    fromMs += stepMs;
  }
  if (last > 0 && range.toMs < lastEnd) {
    toMs -= stepMs;
    cut.push({ index: last, endMs: range.toMs, widthMs: range.toMs - toMs });
  }
  return { cut, whole: fromMs > toMs ? undefined : { fromMs, toMs } };
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
