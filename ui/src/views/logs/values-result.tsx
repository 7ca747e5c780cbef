/** Result of a metric query: further queries, an error, progress, the chart. */
import type { ApiError } from '../../api/errors.ts';
import type { RequestState } from '../../api/use-request.ts';
import { Button } from '../../components/button.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { MistakeHelp } from '../../components/mistake-help.tsx';
import { quoted } from '../../logql/tokens.ts';
import type { Unit } from '../../logql/unit.ts';
import type { MetricAnswer } from '../../query/use-metric.ts';
import type { LogsState } from './logs-state.ts';
import { MetricPanel } from './metric-panel.tsx';
import { MoreQueries } from './more-queries.tsx';
import { SearchProgress } from './search-progress.tsx';

/** A single number is a valid query for its value, but usually meant as a text. */
const NUMBER = /^\s*[\d.]+\s*$/;

interface ValuesResultProps {
  readonly state: LogsState;
  readonly query: string;
  readonly metric: RequestState<MetricAnswer | undefined>;
  readonly error: ApiError | undefined;
  readonly unit: Unit;
  readonly onQuery: (query: string) => void;
  readonly onRun: () => void;
  readonly onCancel: () => void;
  readonly onChange: (changes: Partial<LogsState>) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

export function ValuesResult(props: ValuesResultProps) {
  const { state, query, metric, error, unit, onQuery, onRun, onCancel, onChange, onZoom } = props;
  const { text, chart, compare, more, unit: unitChoice, refresh } = state;
  // A refresh shows the old values until the new ones arrive.
  const isFirst = metric.value === undefined || refresh === 0;
  const { value: answer } = metric;
  const isComplete = answer !== undefined && answer.computed === undefined;
  const progress =
    answer?.computed === undefined
      ? undefined
      : { ...answer.computed, bytes: answer.statistics.totalBytesProcessed };
  return (
    <>
      {NUMBER.test(text) && (
        <p class="number-note">
          LogQL reads {text.trim()} as a number.{' '}
          <Button kind="quiet" class="small" onClick={() => onQuery(quoted(text.trim()))}>
            Search for the text {text.trim()}
          </Button>
        </p>
      )}
      <MoreQueries queries={more} onQueries={next => onChange({ more: next })} />
      {error !== undefined && (
        <ErrorMessage error={error} lead={<MistakeHelp error={error} query={query} onQuery={onQuery} />} />
      )}
      {metric.loading && isFirst && (
        <SearchProgress what="Computing" searched={progress} onCancel={onCancel} />
      )}
      {!metric.loading && !isComplete && error === undefined && (
        <p class="list-end">
          The query was canceled.{' '}
          <Button kind="quiet" class="small" onClick={onRun}>
            Run again
          </Button>
        </p>
      )}
      {error === undefined && (
        <MetricPanel
          asked={metric}
          kind={chart}
          onKind={next => onChange({ chart: next })}
          compare={compare}
          onCompare={next => onChange({ compare: next })}
          unitChoice={unitChoice}
          unit={unit}
          onUnit={next => onChange({ unit: next })}
          onZoom={onZoom}
        />
      )}
    </>
  );
}
