/** Patterns as the table shows them: on one grid of times, with counts and shares. */
import type { Pattern } from '../../api/types.ts';
import { LEVELS, type Level, levelOf } from '../../lines/level.ts';

export interface PatternRow {
  readonly pattern: string;
  readonly level: Level;
  readonly count: number;
  /** Of all lines, 0 to 1. */
  readonly share: number;
  /** Lines of each step of the grid. */
  readonly values: readonly number[];
  /** The step of its first line: an index of the grid. */
  readonly firstStep: number;
}

export type PatternSort = 'lines' | 'newest';

export interface PatternGrid {
  /** Of the first step. */
  readonly startMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

/** Steps that lie on whole multiples, as the store counts them. */
export function patternGrid(
  range: { readonly fromMs: number; readonly toMs: number },
  stepMs: number,
): PatternGrid {
  const startMs = Math.floor(range.fromMs / stepMs) * stepMs;
  return { startMs, stepMs, steps: Math.max(1, Math.ceil((range.toMs - startMs) / stepMs)) };
}

/** @param lines that the selector has in the range; counts of patterns may be estimates, and together more */
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

/** Lines of each level that occurs, the worst first. */
export function levelCounts(
  rows: readonly PatternRow[],
): readonly { readonly level: Level; readonly count: number }[] {
  return LEVELS.map(level => ({
    level,
    count: rows.filter(row => row.level === level).reduce((sum, { count }) => sum + count, 0),
  })).filter(({ count }) => count > 0);
}

/** Colours of terminals; what is left of one that a hole cuts is shown. */
const COLOURS = /\u001b\[[0-9;]*m/g;

/** The fixed parts of a pattern and its holes, in turn. */
export function piecesOfPattern(
  pattern: string,
): readonly { readonly text: string; readonly isHole: boolean }[] {
  return pattern
    .replace(COLOURS, '')
    .split(/(<_>)/)
    .filter(text => text !== '')
    .map(text => ({ text: text.replaceAll('\u001b', '␛'), isHole: text === '<_>' }));
}
