/** What the log view keeps in its address. */
import { DEFAULT_RANGE, type RangeText } from '../../time/time-range.ts';

export type Order = 'newest' | 'oldest';
export const CHART_KINDS = ['lines', 'area', 'bars', 'top', 'value', 'table'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];
export const COMPARISONS = ['', '1d', '7d'] as const;
/** How much earlier the values are that are drawn beside those of the range. */
export type Comparison = (typeof COMPARISONS)[number];

export interface LogsState {
  /** As it was typed: LogQL or words. */
  readonly text: string;
  readonly range: RangeText;
  readonly order: Order;
  /** Of a query that computes values. */
  readonly chart: ChartKind;
  readonly compare: Comparison;
  /** Of the list (lines/columns.ts); empty if nobody chose. */
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
    columns: params.cols ?? '',
  };
}

/** Of what is as it is without being named, nothing. */
export function paramsOf({ text, range, order, chart, compare, columns }: LogsState): Params {
  return {
    q: text,
    from: range.from === DEFAULT_RANGE.from && range.to === DEFAULT_RANGE.to ? '' : range.from,
    to: range.to === DEFAULT_RANGE.to ? '' : range.to,
    order: order === 'newest' ? '' : order,
    chart: chart === 'lines' ? '' : chart,
    compare,
    cols: columns,
  };
}
