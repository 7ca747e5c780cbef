/** Table of series statistics: a column for each label with `inColumns`, otherwise a clickable legend. */
import type { ChartSeries } from './chart-model.ts';

interface SeriesTableProps {
  readonly series: readonly ChartSeries[];
  /** The only series that is drawn, if one is selected. */
  readonly only: string | undefined;
  readonly onOnly: (label: string | undefined) => void;
  readonly inColumns: boolean;
  readonly valueText: (value: number) => string;
}

/** Maximum number of rows. More make the page slow; narrow the query instead. */
const MAX_ROWS = 500;

export function SeriesTable({ series, only, onOnly, inColumns, valueText }: SeriesTableProps) {
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))];
  return (
    <div class="series-table">
      <table class="table">
        <thead>
          <tr>
            {inColumns ? names.map(name => <th key={name}>{name}</th>) : <th>Series</th>}
            {['last', 'min', 'mean', 'max', 'total'].map(name => (
              <th key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {series.slice(0, MAX_ROWS).map(one => (
            <tr key={one.label} class={only !== undefined && only !== one.label ? 'unseen' : ''}>
              {inColumns ? (
                names.map(name => <td key={name}>{one.labels[name] ?? ''}</td>)
              ) : (
                <td>
                  <button
                    type="button"
                    class="legend"
                    aria-pressed={only === one.label}
                    onClick={() => onOnly(only === one.label ? undefined : one.label)}
                  >
                    <i style={{ background: `var(${one.color})` }} />
                    {one.label}
                  </button>
                </td>
              )}
              {figuresOf(one.values).map((value, i) => (
                <td key={i} class="number">
                  {value === undefined ? '' : valueText(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {series.length > MAX_ROWS && <p class="soft">{series.length - MAX_ROWS} more series</p>}
    </div>
  );
}

/** Last, min, mean, max, total. */
function figuresOf(values: ChartSeries['values']): readonly (number | undefined)[] {
  const known = values.filter(value => value !== null);
  if (known.length === 0) return new Array<undefined>(5).fill(undefined);
  const sum = known.reduce((total, value) => total + value, 0);
  const least = known.reduce((a, b) => Math.min(a, b));
  const greatest = known.reduce((a, b) => Math.max(a, b));
  return [known.at(-1), least, sum / known.length, greatest, sum];
}
