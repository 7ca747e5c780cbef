/** Series as single values with sparklines, or as a list of the largest ones. */
import type { ChartSeries } from './chart-model.ts';
import { Sparkline } from './sparkline.tsx';

interface MetricValuesProps {
  readonly series: readonly ChartSeries[];
  readonly valueText: (value: number) => string;
}

/** Maximum number of values; more are better shown as a table. */
const MAX_CARDS = 24;
const MAX_BARS = 50;

interface LastSample {
  readonly one: ChartSeries;
  readonly value: number;
}

/** Last sample of each series, largest first; omits series without samples. */
function lastOf(series: readonly ChartSeries[]): readonly LastSample[] {
  return series
    .flatMap(one => {
      const value = one.values.findLast(sample => sample !== null);
      return value === null || value === undefined ? [] : [{ one, value }];
    })
    .sort((a, b) => b.value - a.value);
}

export function SingleValues({ series, valueText }: MetricValuesProps) {
  const found = lastOf(series);
  return (
    <ul class="single-values" aria-label="Last values">
      {found.slice(0, MAX_CARDS).map(({ one, value }) => (
        <li key={one.label}>
          <span class="single-label">{one.label}</span>
          <strong class="numeric">{valueText(value)}</strong>
          <Sparkline
            values={one.values.map(sample => Math.max(0, sample ?? 0))}
            color={one.color}
            name={`${one.label} over time`}
          />
        </li>
      ))}
      {found.length > MAX_CARDS && <li class="soft">{found.length - MAX_CARDS} more in the table</li>}
    </ul>
  );
}

export function TopList({ series, valueText }: MetricValuesProps) {
  const found = lastOf(series);
  const largest = Math.max(...found.map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  return (
    <ol class="top-list" aria-label="Series by their last value">
      {found.slice(0, MAX_BARS).map(({ one, value }) => (
        <li key={one.label}>
          <span class="top-list-label">{one.label}</span>
          <span class="numeric">{valueText(value)}</span>
          <span class="top-value-bar">
            <i
              style={{
                width: `${Math.max(0.5, (Math.abs(value) / largest) * 100)}%`,
                background: `var(${one.color})`,
              }}
            />
          </span>
        </li>
      ))}
    </ol>
  );
}
