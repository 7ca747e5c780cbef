/** State of the log view in the URL. */
import {
  CHART_KINDS,
  type ChartKind,
  MAX_QUERIES,
  MAX_QUERY_CHARACTERS,
  REFRESH_SECONDS,
  UNITS,
  type UnitChoice,
} from '../../../../shared/base/model/board.ts';
import { DEFAULT_RANGE, type RangeText } from '../../time/time-range.ts';

export type Order = 'newest' | 'oldest';

export const COMPARISONS = ['', '1d', '7d'] as const;
/** Distance of the earlier values that are compared with those of the range. */
export type Comparison = (typeof COMPARISONS)[number];

export interface LogsState {
  /** Text as typed: LogQL or plain words. */
  readonly text: string;
  readonly range: RangeText;
  readonly order: Order;
  /** Chart kind of a metric query. */
  readonly chart: ChartKind;
  readonly compare: Comparison;
  readonly unit: UnitChoice;
  /** Further queries in the chart of the first one. */
  readonly more: readonly string[];
  /** Seconds between runs of the query; 0 means never. */
  readonly refresh: number;
  /** Shows new lines as they are pushed. */
  readonly live: boolean;
  /** Columns of the list (lines/columns.ts); empty for automatic ones. */
  readonly columns: string;
}

type Params = Readonly<Record<string, string>>;

export function stateOf(params: Params): LogsState {
  return {
    text: params.q ?? '',
    range: { from: params.from ?? DEFAULT_RANGE.from, to: params.to ?? DEFAULT_RANGE.to },
    order: params.order === 'oldest' ? 'oldest' : 'newest',
    chart: CHART_KINDS.find(kind => kind === params.chart) ?? 'lines',
    compare: COMPARISONS.find(span => span === params.compare) ?? '',
    unit: UNITS.find(unit => unit === params.unit) ?? 'auto',
    more: moreOf(params.more),
    refresh: REFRESH_SECONDS.find(seconds => String(seconds) === params.refresh) ?? 0,
    live: params.live === '1',
    columns: params.cols ?? '',
  };
}

/** URL parameters; default values are omitted. */
export function paramsOf(state: LogsState): Params {
  const { text, range, order, chart, compare, unit, more, refresh, live, columns } = state;
  return {
    q: text,
    from: range.from === DEFAULT_RANGE.from && range.to === DEFAULT_RANGE.to ? '' : range.from,
    to: range.to === DEFAULT_RANGE.to ? '' : range.to,
    order: order === 'newest' ? '' : order,
    chart: chart === 'lines' ? '' : chart,
    compare,
    unit: unit === 'auto' ? '' : unit,
    more: more.length === 0 ? '' : JSON.stringify(more),
    refresh: refresh === 0 ? '' : String(refresh),
    live: live ? '1' : '',
    cols: columns,
  };
}

/** Further queries of a URL, which can contain any text. */
function moreOf(param: string | undefined): readonly string[] {
  if (param === undefined) return [];
  try {
    const found: unknown = JSON.parse(param);
    if (!Array.isArray(found)) return [];
    return found
      .filter(query => typeof query === 'string' && query.length <= MAX_QUERY_CHARACTERS)
      .slice(0, MAX_QUERIES - 1) as string[];
  } catch {
    return [];
  }
}
