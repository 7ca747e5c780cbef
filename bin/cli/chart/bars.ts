/**
 * Draws values as horizontal bars: the result of a query at one instant. The largest come first, and the rest
 * is counted.
 */
import { visible } from '../../../shared/base/model/visible-text.ts';
import { labelText } from '../answer-text.ts';
import { cellWidth, cutCells, padCells } from '../cell-text.ts';
import type { PrintedSeries } from '../range-query.ts';
import type { ScreenSize } from '../standard-output.ts';
import { shortNumber } from './number-text.ts';

/** Eighths of a cell, for the end of a bar. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const FULL = '█';
const MAX_BARS = 50;
/** Maximum share of a line for names. */
const NAME_SHARE = 0.5;
const MIN_BAR_CELLS = 8;
const COLOR = 36;

export function barsText(
  series: readonly PrintedSeries[],
  { screen, colors }: { readonly screen: ScreenSize; readonly colors: boolean },
): string {
  const bars = series
    .flatMap(({ labels, samples }) =>
      samples.map(({ value }) => ({ name: visible(labelText(labels)), value: Number(value) })),
    )
    .filter(({ value }) => Number.isFinite(value))
    .sort((a, b) => b.value - a.value);
  if (bars.length === 0) return 'no samples to draw\n';
  const shown = bars.slice(0, MAX_BARS);
  const nameCells = Math.min(
    Math.floor(screen.columns * NAME_SHARE),
    Math.max(...shown.map(({ name }) => cellWidth(name))),
  );
  const figureCells = Math.max(...shown.map(({ value }) => shortNumber(value).length));
  const room = Math.max(MIN_BAR_CELLS, screen.columns - nameCells - figureCells - 4);
  const most = Math.max(0, ...shown.map(({ value }) => value));
  const lines = shown.map(({ name, value }) => {
    const bar = barOf(most > 0 ? Math.max(0, value) / most : 0, room);
    const painted = colors && bar !== '' ? `\u001b[${COLOR}m${bar}\u001b[39m` : bar;
    const figure = shortNumber(value).padStart(figureCells);
    return `${padCells(cutCells(name, nameCells), nameCells)}  ${figure}  ${painted}`.trimEnd() + '\n';
  });
  if (bars.length > shown.length) lines.push(`and ${bars.length - shown.length} more with smaller values\n`);
  return lines.join('');
}

function barOf(part: number, cells: number): string {
  const eighths = Math.round(part * cells * 8);
  return FULL.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
