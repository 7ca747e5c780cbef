/**
 * Queries about one field of the lines that a log query selects. Each includes the parser that the field
 * needs.
 */
import { hasStage } from './edit.ts';

export interface QueriedField {
  readonly name: string;
  readonly source: 'stream' | 'entry' | 'json' | 'logfmt';
  readonly type: 'string' | 'int' | 'float' | 'boolean' | 'duration' | 'bytes';
}

export const TOP_VALUES = 10;

/** Counts of the most frequent values in a window. */
export function topValuesQuery(query: string, field: QueriedField, window: string): string {
  return `topk(${TOP_VALUES}, sum by (${field.name}) (${counted(query, field, window)}))`;
}

/** Number of lines that have the field. */
export function presenceQuery(query: string, field: QueriedField, window: string): string {
  return `sum(${counted(query, field, window)})`;
}

/** Lines by value over time; only the most frequent values at each step if there are many. */
export function groupByQuery(query: string, field: QueriedField, cardinality: number): string {
  const sums = `sum by (${field.name}) (${counted(query, field, '$__auto')})`;
  return cardinality > 2 * TOP_VALUES ? `topk(${TOP_VALUES}, ${sums})` : sums;
}

export const FIGURES = ['min', 'median', '95%', '99%', 'max'] as const;
export type FieldFigure = (typeof FIGURES)[number];
const FUNCTIONS: Readonly<Record<FieldFigure, string>> = {
  min: 'min_over_time(',
  median: 'quantile_over_time(0.5, ',
  '95%': 'quantile_over_time(0.95, ',
  '99%': 'quantile_over_time(0.99, ',
  max: 'max_over_time(',
};

/** One statistic of the values: durations in seconds, sizes in bytes. */
export function figureQuery(query: string, field: QueriedField, figure: FieldFigure, window: string): string {
  const { name, type } = field;
  const value = type === 'duration' || type === 'bytes' ? `${type}(${name})` : name;
  const pipeline = `${parsed(query, field)} | ${name}!="" | unwrap ${value} | __error__=""`;
  return `${FUNCTIONS[figure]}${pipeline} [${window}]) by ()`;
}

function counted(query: string, field: QueriedField, window: string): string {
  return `count_over_time(${parsed(query, field)} | ${field.name}!="" [${window}])`;
}

/** A comment at the end of the query ends at the line break. */
function parsed(query: string, { source }: QueriedField): string {
  const needsParser = (source === 'json' || source === 'logfmt') && !hasStage(query, source);
  const end = query.includes('#') || query.includes('//') ? '\n' : '';
  return `${query.trim()}${end}${needsParser ? ` | ${source}` : ''}`;
}
