/**
 * Open field: its values over the whole range with shares, its numbers and their distribution, and actions.
 */
import { useMemo } from 'preact/hooks';
import { fetchFieldFigures, fetchFieldValues } from '../../api/fields.ts';
import { useRequest } from '../../api/use-request.ts';
import { Button, IconButton } from '../../components/button.tsx';
import {
  bucketsOf,
  type Field,
  isNearlyUnique,
  isNumericType,
  numericValue,
  valuesOfRows,
} from '../../lines/field-stats.ts';
import type { LogRow } from '../../lines/rows.ts';
import { type FieldCondition, isNumeric as isNumber } from '../../logql/edit.ts';
import { TOP_VALUES } from '../../logql/field-queries.ts';
import {
  bytesText,
  countText,
  manyText,
  percentText,
  quantityText,
  secondsText,
} from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';

interface FieldCardProps {
  readonly field: Field;
  readonly rows: readonly LogRow[];
  readonly query: string;
  readonly range: ResolvedRange;
  readonly total: number | undefined;
  readonly onCondition: (condition: FieldCondition) => void;
  readonly onColumn: (name: string) => void;
  readonly onGroupBy: (field: Field) => void;
}

const BUCKETS = 20;

export function FieldCard(props: FieldCardProps) {
  const { field, rows, query, range, total, onCondition, onColumn, onGroupBy } = props;
  const { name, source, type } = field;
  // Shown until the store has counted the whole range, or if it refuses to.
  const loaded = useMemo(() => valuesOfRows(rows, name), [rows, name]);
  const isUnique = isNearlyUnique(loaded);
  const found = useRequest(
    signal => fetchFieldValues({ query, field, ...range }, !isUnique, signal),
    [query, range, name, source, isUnique],
  );
  const counted = found.value?.values;
  const values = counted ?? loaded.slice(0, TOP_VALUES);
  const lines = found.value?.lines ?? 0;
  const shareOf =
    counted === undefined ? loaded.reduce((sum, { count }) => sum + count, 0) : Math.max(1, lines);
  const condition = (value: string, op: '=' | '!='): FieldCondition => ({
    name,
    value,
    op,
    source,
    numeric: source !== 'stream' && isNumericType(type) && isNumber(value),
  });
  return (
    <section class="field-card" aria-label={`Field ${name}`} aria-busy={found.loading}>
      <div class="field-actions">
        <Button kind="quiet" class="small" onClick={() => onGroupBy(field)}>
          Group by
        </Button>
        <Button kind="quiet" class="small" onClick={() => onColumn(name)}>
          Add column
        </Button>
      </div>
      {found.loading && found.value === undefined && (
        <p class="column-hint">Counting values… Until then, those of the loaded lines:</p>
      )}
      {found.error !== undefined && (
        <p class="column-hint">
          Values of the loaded lines. The store could not count all of them: {found.error.message}
        </p>
      )}
      {found.value !== undefined && total !== undefined && total > 0 && (
        <p class="column-hint numeric">
          {`In ${countText(lines)} of ${manyText(Math.max(total, lines), 'line')} (${percentText(lines / Math.max(total, lines))})`}
        </p>
      )}
      {found.value !== undefined && isUnique && (
        <p class="column-hint">Most lines have a different value. Some of the loaded lines:</p>
      )}
      {isNumericType(type) && source !== 'stream' && (
        <Distribution
          field={field}
          loaded={loaded}
          query={query}
          range={range}
          waits={found.loading && found.value === undefined}
        />
      )}
      <ul class="top-values" aria-label={`Most frequent values of ${name}`}>
        {values.map(({ value, count }) => (
          <li key={value}>
            <span class="top-value-text" title={value}>
              {value}
            </span>
            <span class="top-value-share numeric" title={manyText(count, 'line')}>
              {percentText(count / shareOf)}
            </span>
            <IconButton
              icon="plus"
              name={`Only ${name} = ${shortened(value)}`}
              onClick={() => onCondition(condition(value, '='))}
            />
            <IconButton
              icon="minus"
              name={`Without ${name} = ${shortened(value)}`}
              onClick={() => onCondition(condition(value, '!='))}
            />
            <span class="top-value-bar">
              <i style={{ width: `${Math.max(1, (count / shareOf) * 100)}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DistributionProps extends Pick<FieldCardProps, 'field' | 'query' | 'range'> {
  readonly loaded: ReturnType<typeof valuesOfRows>;
  /** True while the values are counted, which the statistics would slow down. */
  readonly waits: boolean;
}

/** Statistics of the whole range from the store, and a histogram of the loaded lines. */
function Distribution({ field, loaded, query, range, waits }: DistributionProps) {
  const { name, type } = field;
  const { value: figures } = useRequest(
    async signal => (waits ? undefined : fetchFieldFigures({ query, field, ...range }, signal)),
    [query, range, name, waits],
  );
  const buckets = useMemo(() => {
    const numbers = loaded.flatMap(({ value, count }) =>
      new Array<number>(count).fill(numericValue(value, type)),
    );
    return bucketsOf(numbers, BUCKETS);
  }, [loaded, type]);
  const highest = Math.max(...buckets.map(({ count }) => count), 1);
  return (
    <>
      {figures !== undefined && figures.length > 0 && (
        <dl class="field-figures">
          {figures.map(({ figure, value }) => (
            <div key={figure}>
              <dt>{figure}</dt>
              <dd class="numeric">{figureText(value, type)}</dd>
            </div>
          ))}
        </dl>
      )}
      {buckets.length > 0 && (
        <figure class="field-histogram">
          <div
            role="img"
            aria-label={`Distribution of ${name} in the loaded lines, from ${figureText(buckets[0].from, type)} to ${figureText(buckets[BUCKETS - 1].to, type)}`}
          >
            {buckets.map(({ from, to, count }) => (
              <i
                key={from}
                title={`${figureText(from, type)} to ${figureText(to, type)}: ${manyText(count, 'line')}`}
                style={{ height: `${(count / highest) * 100}%` }}
              />
            ))}
          </div>
          <figcaption class="numeric">
            <span>{figureText(buckets[0].from, type)}</span>
            <span>{figureText(buckets[BUCKETS - 1].to, type)}</span>
          </figcaption>
        </figure>
      )}
    </>
  );
}

function figureText(value: number, type: Field['type']): string {
  if (type === 'duration') return secondsText(value);
  return type === 'bytes' ? bytesText(value) : quantityText(value);
}

function shortened(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}
