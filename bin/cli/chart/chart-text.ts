/**
 * Draws series as lines in a terminal, with axes and a legend:
 *
 *     40 ┤         ⢀⡠⠒⠉
 *     20 ┤   ⣀⠤⠒⠊⠉⠁
 *      0 ┼⠤⠊⠁────────────
 *        └┬───────┬──────
 *       10:00   10:30
 *
 * A gap in a series is a gap in its line. If there are many series, those with the largest values are drawn
 * and the rest is counted.
 */
import { visible } from '../../../shared/base/model/visible-text.ts';
import { labelText } from '../answer-text.ts';
import { cellWidth, cutCells, padCells } from '../cell-text.ts';
import type { PrintedSeries } from '../range-query.ts';
import type { ScreenSize } from '../standard-output.ts';
import { shownOffsetMs, shownZoneName } from '../time-zone.ts';
import { timeMarks, type ValueAxis, valueAxis, valueTexts } from './axis.ts';
import { brailleCanvas, type Canvas, letterCanvas } from './canvas.ts';
import { shortNumber } from './number-text.ts';
import { MAX_PENS, type Pens, pensOf } from './pens.ts';

const MIN_COLUMNS = 16;
const MIN_ROWS = 4;
/** Maximum height. A taller chart shows no further detail. */
const MAX_ROWS = 18;
/** Screen rows that the legend, the axis, the prompt and the command itself need. */
const OTHER_ROWS = 6;
const ROWS_PER_MARK = 3;
const COLUMNS_PER_TIME = 12;
/** Steps between two samples above which the line has a gap. */
const GAP_STEPS = 1.5;

interface ChartLine {
  readonly labels: PrintedSeries['labels'];
  readonly points: readonly { readonly ms: number; readonly value: number }[];
  readonly most: number;
}

interface ChartOptions {
  readonly screen: ScreenSize;
  readonly colors: boolean;
}

export function chartText(series: readonly PrintedSeries[], { screen, colors }: ChartOptions): string {
  const lines = series.map(lineOf).filter(({ points }) => points.length > 0);
  if (lines.length === 0) return 'no samples to draw\n';
  const drawn = lines.toSorted((a, b) => b.most - a.most).slice(0, MAX_PENS);
  const points = drawn.flatMap(line => line.points);
  const rows = Math.min(MAX_ROWS, Math.max(MIN_ROWS, screen.rows - OTHER_ROWS - drawn.length));
  const axis = valueAxis(
    points.reduce((least, { value }) => Math.min(least, value), Infinity),
    points.reduce((most, { value }) => Math.max(most, value), -Infinity),
    Math.floor(rows / ROWS_PER_MARK) + 1,
  );
  const texts = valueTexts(axis.marks);
  const margin = Math.max(...texts.map(text => text.length));
  const columns = Math.max(MIN_COLUMNS, screen.columns - margin - 3);
  const pens = pensOf(colors, drawn.length);
  const size = { columns, rows };
  const canvas = colors || drawn.length === 1 ? brailleCanvas(size) : letterCanvas(size, pens.letters);
  const times = {
    startMs: points.reduce((least, { ms }) => Math.min(least, ms), Infinity),
    endMs: points.reduce((most, { ms }) => Math.max(most, ms), -Infinity),
  };
  // The largest is drawn last, over the others.
  drawn.toReversed().forEach((line, i) => {
    drawLine(canvas, line, { axis, ...times, pen: drawn.length - 1 - i });
  });
  return (
    fieldText(canvas, { axis, texts, margin, rows, pens }) +
    timeText({ ...times, columns, margin }) +
    legendText(drawn, lines.length, pens, screen.columns)
  );
}

function lineOf({ labels, samples }: PrintedSeries): ChartLine {
  const points = samples
    .map(({ timeNs, value }) => ({ ms: Number(timeNs / 1_000_000n), value: Number(value) }))
    .filter(({ value }) => Number.isFinite(value));
  return { labels, points, most: points.reduce((most, { value }) => Math.max(most, value), -Infinity) };
}

/** Most frequent distance of samples. The last sample of a response may be nearer. */
function usualStep(points: ChartLine['points']): number {
  const steps = points.slice(1).map(({ ms }, i) => ms - points[i].ms);
  return steps.sort((a, b) => a - b)[steps.length >> 1] ?? 0;
}

interface PlotArea {
  readonly axis: ValueAxis;
  readonly startMs: number;
  readonly endMs: number;
  readonly pen: number;
}

function drawLine(canvas: Canvas, { points }: ChartLine, { axis, startMs, endMs, pen }: PlotArea): void {
  const stepMs = usualStep(points);
  const cellOf = ({ ms, value }: ChartLine['points'][number]) => ({
    x: endMs === startMs ? 0 : Math.round(((ms - startMs) / (endMs - startMs)) * (canvas.width - 1)),
    y: Math.round(((axis.high - value) / (axis.high - axis.low)) * (canvas.height - 1)),
  });
  points.forEach((point, i) => {
    const before = points[i - 1];
    const isJoined = before !== undefined && point.ms - before.ms <= GAP_STEPS * stepMs;
    canvas.line(cellOf(isJoined ? before : point), cellOf(point), pen);
  });
}

function fieldText(
  canvas: Canvas,
  {
    axis,
    texts,
    margin,
    rows,
    pens,
  }: { axis: ValueAxis; texts: string[]; margin: number; rows: number; pens: Pens },
): string {
  const labelOf = new Map(
    axis.marks.map((mark, i) => [
      Math.round(((axis.high - mark) / (axis.high - axis.low)) * (rows - 1)),
      texts[i],
    ]),
  );
  return canvas
    .rows()
    .map((runs, row) => {
      const label = labelOf.get(row);
      const edge = `${padCells(label ?? '', margin, 'right')} ${label === undefined ? '│' : '┤'}`;
      return `${edge}${runs.map(({ text, pen }) => pens.paint(text, pen)).join('')}`.trimEnd();
    })
    .join('\n')
    .concat('\n');
}

/** Time axis with its marks, and the date of its start below. */
function timeText({
  startMs,
  endMs,
  columns,
  margin,
}: {
  startMs: number;
  endMs: number;
  columns: number;
  margin: number;
}): string {
  const offsetMs = shownOffsetMs(startMs);
  const [from, to] = [startMs + offsetMs, endMs + offsetMs];
  const marks = timeMarks(from, to, Math.max(2, Math.floor(columns / COLUMNS_PER_TIME)));
  const line = Array.from({ length: columns }, () => '─');
  let texts = '';
  for (const { ms, text } of marks) {
    const column = to === from ? 0 : Math.round(((ms - from) / (to - from)) * (columns - 1));
    const at = Math.min(column, columns - text.length);
    // The last mark may not fit after the one before.
    if (at < texts.length + (texts === '' ? 0 : 1)) continue;
    line[column] = '┬';
    texts = texts.padEnd(at) + text;
  }
  const indent = ' '.repeat(margin + 2);
  const day = `${new Date(from).toISOString().slice(0, 10)} ${shownZoneName(startMs)}`;
  const hasRoom = columns - texts.length >= day.length + 2;
  const below = hasRoom ? texts.padEnd(columns - day.length) + day : `${texts}\n${indent}${day}`;
  return `${' '.repeat(margin + 1)}└${line.join('')}\n${indent}${below}`.trimEnd() + '\n';
}

function legendText(drawn: readonly ChartLine[], count: number, pens: Pens, maxCells: number): string {
  const lines = drawn.map(({ labels, points, most }, pen) => {
    const figures = `last ${shortNumber(points.at(-1)!.value)}, max ${shortNumber(most)}`;
    // The legend mark takes two cells with colors, and one without.
    const room = maxCells - figures.length - 6;
    const name = visible(labelText(labels));
    const shown = cellWidth(name) > room ? cutCells(name, Math.max(1, room)) : name;
    return `${pens.mark(pen)} ${shown}  ${figures}\n`;
  });
  if (count > drawn.length) lines.push(`and ${count - drawn.length} more series with smaller values\n`);
  return lines.join('');
}
