/** Patterns as the table shows them: on one time grid, with counts and shares. */
import type { Pattern } from '../../api/types.ts';
import { LEVELS, type Level, levelOf } from '../../lines/level.ts';

export interface PatternRow {
  readonly pattern: string;
  readonly level: Level;
  readonly count: number;
  /** Share of all lines, 0 to 1. */
  readonly share: number;
  /** Number of lines per step of the grid. */
  readonly values: readonly number[];
  /** Step of its first line: an index of the grid. */
  readonly firstStep: number;
}

export type PatternSort = 'lines' | 'newest';

export interface PatternGrid {
  /** Start of the first step. */
  readonly startMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

/** Steps on whole multiples, as the store counts them. */
export function patternGrid(
  range: { readonly fromMs: number; readonly toMs: number },
  stepMs: number,
): PatternGrid {
  const startMs = Math.floor(range.fromMs / stepMs) * stepMs;
  return { startMs, stepMs, steps: Math.max(1, Math.ceil((range.toMs - startMs) / stepMs)) };
}

/**
 * @param lines number of lines of the selector in the range; counts of patterns may be estimates and exceed
 * it
 */
export function patternRows(
  patterns: readonly Pattern[],
  grid: PatternGrid,
  lines: number,
): readonly PatternRow[] {
  const counts = patterns.map(({ samples }) => samples.reduce((sum, [, count]) => sum + count, 0));
  const all = Math.max(
    lines,
    counts.reduce((sum, count) => sum + count, 0),
  );
  return patterns.map(({ pattern, level, samples }, i) => {
    const values = new Array<number>(grid.steps).fill(0);
    for (const [seconds, count] of samples) {
      const step = Math.floor((seconds * 1000 - grid.startMs) / grid.stepMs);
      if (step >= 0 && step < grid.steps) values[step] += count;
    }
    const firstStep = values.findIndex(count => count > 0);
    return {
      pattern,
      level: levelOf(level),
      count: counts[i],
      share: all === 0 ? 0 : counts[i] / all,
      values,
      firstStep,
    };
  });
}

export function sortedRows(rows: readonly PatternRow[], by: PatternSort): readonly PatternRow[] {
  const byCount = (a: PatternRow, b: PatternRow) => b.count - a.count;
  return [...rows].sort(by === 'lines' ? byCount : (a, b) => b.firstStep - a.firstStep || byCount(a, b));
}

/** Number of lines by level, worst level first, without empty levels. */
export function levelCounts(
  rows: readonly PatternRow[],
): readonly { readonly level: Level; readonly count: number }[] {
  return LEVELS.map(level => ({
    level,
    count: rows.filter(row => row.level === level).reduce((sum, { count }) => sum + count, 0),
  })).filter(({ count }) => count > 0);
}

/** ANSI color sequences. The rest of a sequence that a hole cuts stays visible. */
const COLORS = /\u001b\[[0-9;]*m/g;

/** Fixed parts and holes of a pattern, alternating. */
export function piecesOfPattern(
  pattern: string,
): readonly { readonly text: string; readonly isHole: boolean }[] {
  return pattern
    .replace(COLORS, '')
    .split(/(<_>)/)
    .filter(text => text !== '')
    .map(text => ({ text: text.replaceAll('\u001b', '␛'), isHole: text === '<_>' }));
}
