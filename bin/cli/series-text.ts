/** Formats results of metric queries, range and instant, in every output format. */
import { labelText, type Output } from './answer-text.ts';
import { barsText } from './chart/bars.ts';
import { chartText } from './chart/chart-text.ts';
import { NO_PAINT, type Paint } from './paint.ts';
import type { PrintedSeries } from './range-query.ts';
import type { ScreenSize } from './standard-output.ts';
import { alignedText, csvText, type TextTable } from './table-text.ts';
import { shownMilliseconds, shownNanoseconds } from './time-text.ts';

export const METRIC_OUTPUTS = ['default', 'raw', 'jsonl', 'table', 'csv', 'chart'] as const;
export type MetricOutput = (typeof METRIC_OUTPUTS)[number];

/** Maximum series side by side. More are wider than a screen, so they are printed one after the other. */
const MAX_SERIES_COLUMNS = 8;

interface SeriesTextOptions {
  readonly output: MetricOutput;
  readonly screen: ScreenSize;
  readonly colors: boolean;
  readonly paint?: Paint;
  readonly maxCells?: number;
  /** True for the result of an instant query, which is drawn as bars instead of lines. */
  readonly instant?: boolean;
}

export function metricText(series: readonly PrintedSeries[], options: SeriesTextOptions): string {
  const { output, screen, colors, paint = NO_PAINT, maxCells, instant = false } = options;
  switch (output) {
    case 'chart':
      return instant ? barsText(series, { screen, colors }) : chartText(series, { screen, colors });
    case 'table':
      return alignedText(
        instant || series.length > MAX_SERIES_COLUMNS ? rowsOf(series) : sideBySide(series),
        {
          maxCells,
        },
      );
    case 'csv':
      return csvText(rowsOf(series, shownNanoseconds), { shown: paint.given });
    default:
      return series.map(each => seriesText(each, { output, paint, instant })).join('');
  }
}

/** One line per sample. Instant results omit the time in text output, because it is the same for all. */
function seriesText(
  { labels, samples }: PrintedSeries,
  { output, paint, instant }: { output: Exclude<Output, 'table' | 'csv'>; paint: Paint; instant: boolean },
): string {
  const shown = paint.labels(labelText(labels));
  let out = '';
  for (const { timeNs, value } of samples) {
    if (output === 'raw') out += `${paint.given(value)}\n`;
    else if (output === 'jsonl')
      out += `${paint.given(JSON.stringify({ timestamp: shownNanoseconds(timeNs), labels, value }))}\n`;
    else
      out += `${instant ? '' : `${paint.time(shownMilliseconds(timeNs))} `}${shown} ${paint.given(value)}\n`;
  }
  return out;
}

/** Table with a row for each sample and a column for each label of any series. */
function rowsOf(series: readonly PrintedSeries[], time = shownMilliseconds): TextTable {
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].sort();
  return {
    columns: [{ name: 'timestamp' }, ...names.map(name => ({ name })), { name: 'value', align: 'right' }],
    rows: series.flatMap(({ labels, samples }) =>
      samples.map(({ timeNs, value }) => [
        time(timeNs),
        ...names.map(name => (Object.hasOwn(labels, name) ? labels[name] : null)),
        value,
      ]),
    ),
  };
}

/** Table with a row for each time and a column for each series. */
function sideBySide(series: readonly PrintedSeries[]): TextTable {
  const times = [...new Set(series.flatMap(({ samples }) => samples.map(({ timeNs }) => timeNs)))].sort(
    (a, b) => (a < b ? -1 : 1),
  );
  const values = series.map(({ samples }) => new Map(samples.map(({ timeNs, value }) => [timeNs, value])));
  return {
    columns: [
      { name: 'time' },
      ...series.map(({ labels }) => ({ name: labelText(labels), align: 'right' as const })),
    ],
    rows: times.map(timeNs => [shownMilliseconds(timeNs), ...values.map(of => of.get(timeNs) ?? null)]),
  };
}
