/**
 * Range aggregations (docs/dev/logql-semantics.md#parsers-that-are-skipped, #range-aggregations): samples of entries, and what a window
 * makes of them.
 */
import type {
  Grouping,
  LabelFilter,
  LogRange,
  RangeAggregationExpr,
  RangeOp,
  Stage,
} from '../../../shared/language/logql/ast.ts';
import { type Bytes, toBytes } from './bytes.ts';
import { numberOf, secondsOf, sizeOf } from './conversions.ts';
import { passesLabelFilter } from './label-filters.ts';
import { type EntryLabels, ERROR, ERROR_DETAILS, type Hints, PRESERVE_ERROR } from './labels.ts';
import { compilePipeline, isParser, type OracleEntry } from './pipeline.ts';
import { chosen, type Element, groupBy, keyOf, type SeriesLabels } from './series.ts';
import { templateOf } from './templates.ts';
import { Undecided } from './undecided.ts';

export interface Sample {
  readonly timeNs: bigint;
  readonly value: number;
  readonly labels: SeriesLabels;
}

/** A series with an error fails the query. */
export class PipelineFailure extends Error {}

/** U+FFFD. */
const REPLACEMENT = '\xef\xbf\xbd';

const ADDITIVE: readonly RangeOp[] = [
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
];

/** Samples of the entries of the selector, in the order of time. `outer` is the grouping of a sum directly around. */
export function samplesOf(
  { op, range, grouping }: RangeAggregationExpr,
  outer: Grouping | undefined,
  entries: readonly OracleEntry[],
): Sample[] {
  const counted: Grouping | undefined =
    op === 'absent_over_time'
      ? { without: false, labels: [] }
      : (grouping ?? (ADDITIVE.includes(op) ? outer : undefined));
  const countsBytes = op === 'bytes_over_time' || op === 'bytes_rate';
  const stages = countsBytes ? range.log.stages : withoutUnreadFormats(range.log.stages);
  const { hints, skipsParsers } = hintsOf(stages, range, counted);
  const pipeline = compilePipeline(stages, { hints, skipsParsers });
  const samples: Sample[] = [];
  for (const entry of entries) {
    const passed = pipeline(entry);
    if (passed === undefined) continue;
    const value =
      range.unwrap === undefined
        ? countsBytes
          ? passed.line.length
          : 1
        : unwrapped(range.unwrap, passed.labels);
    if (value === undefined) continue;
    samples.push({ timeNs: entry.timeNs, value, labels: seriesLabels(passed.labels, range, counted) });
  }
  return samples;
}

/** A line_format whose line no stage reads does not run (docs/dev/logql-semantics.md#line_format). */
function withoutUnreadFormats(stages: readonly Stage[]): Stage[] {
  return stages.filter((stage, i) => {
    if (stage.kind !== 'lineFormat') return true;
    return stages.slice(i + 1).some(later => later.kind === 'lineFilter' || isParser(later));
  });
}

function hintsOf(
  stages: readonly Stage[],
  { unwrap }: LogRange,
  grouping: Grouping | undefined,
): { hints: Hints | undefined; skipsParsers: boolean } {
  const names = new Set<string>();
  for (const stage of stages) {
    if (stage.kind === 'labelFilter') addNames(stage.filter, names);
    if (stage.kind === 'lineFormat')
      for (const field of templateOf(stage.template, 'line').fields) names.add(field);
    if (stage.kind !== 'labelFormat') continue;
    for (const item of stage.items) {
      if (item.kind === 'rename') names.add(item.source);
      else for (const field of templateOf(item.template, 'label').fields) names.add(field);
    }
  }
  if (unwrap !== undefined) {
    names.add(unwrap.label);
    for (const filter of unwrap.filters) addNames(filter, names);
  }
  const by = grouping !== undefined && !grouping.without;
  for (const name of by ? grouping.labels : []) names.add(name);
  for (const name of [...names]) names.add(name.replace(/_extracted$/, ''));
  if (by && grouping.labels.length === 0 && names.size === 0) return { hints: undefined, skipsParsers: true };
  if (!by) return { hints: undefined, skipsParsers: false };
  return {
    hints: { names: new Set([...names].map(toBytes)), preserveError: names.has(ERROR) },
    skipsParsers: false,
  };
}

function addNames(filter: LabelFilter, names: Set<string>): void {
  if (filter.kind === 'and' || filter.kind === 'or') {
    addNames(filter.left, names);
    addNames(filter.right, names);
  } else if (filter.kind !== 'string') names.add(filter.name);
  // `=~".*"` does not filter.
  else if (filter.matcher.op !== '=~' || filter.matcher.value !== '.*') names.add(filter.matcher.name);
}

/** Undefined if there is nothing to unwrap, or a later filter drops the entry. */
function unwrapped(unwrap: NonNullable<LogRange['unwrap']>, labels: EntryLabels): number | undefined {
  const text = labels.get(toBytes(unwrap.label)) ?? '';
  if (text === '') return undefined;
  const convert =
    unwrap.conversion === undefined ? numberOf : unwrap.conversion === 'bytes' ? sizeOf : secondsOf;
  const converted = convert(text);
  if (converted.error !== undefined) {
    labels.error = 'SampleExtractionErr';
    labels.details = converted.error;
  }
  // Filters are one, joined by and: all of them run.
  const kept = unwrap.filters.map(filter => passesLabelFilter(filter, labels)).every(Boolean);
  return kept ? (converted.error === undefined ? converted.value : 0) : undefined;
}

function seriesLabels(
  labels: EntryLabels,
  { unwrap }: LogRange,
  grouping: Grouping | undefined,
): SeriesLabels {
  if (labels.error !== '') return labels.all;
  const names = (grouping?.labels ?? []).map(toBytes);
  // Details of a dropped error are in no group.
  if (grouping !== undefined && !grouping.without)
    return chosen(
      labels.all,
      names.filter(name => name !== ERROR_DETAILS),
      false,
    );
  if (unwrap !== undefined) names.push(toBytes(unwrap.label));
  return names.length === 0 ? labels.all : chosen(labels.all, [...names, ERROR_DETAILS], true);
}

/** The series at one instant: those with a sample in `(t - offset - range, t - offset]`. */
export function vectorAt(expr: RangeAggregationExpr, samples: readonly Sample[], timeNs: bigint): Element[] {
  const end = timeNs - expr.range.offsetNs;
  const start = end - expr.range.rangeNs;
  const inside = samples.filter(sample => sample.timeNs > start && sample.timeNs <= end);
  const elements: Element[] = [];
  for (const window of groupBy(inside, sample => keyOf(sample.labels)).values()) {
    const { labels } = window[0];
    // The reference cannot read such labels, and skips their samples.
    if ([...labels.values()].some(value => value.includes(REPLACEMENT))) continue;
    if (labels.has(ERROR) && labels.get(PRESERVE_ERROR) !== 'true') {
      throw new PipelineFailure(`pipeline error: '${labels.get(ERROR)}'`);
    }
    elements.push({ labels, value: aggregate(expr, window, start, end) });
  }
  if (expr.op !== 'absent_over_time') return elements;
  return elements.length > 0 ? [] : [{ labels: absentLabels(expr.range.log.selector), value: 1 }];
}

/**
 * Labels of equality matchers whose name no other matcher uses (docs/dev/logql-semantics.md#absent_over_time).
 */
function absentLabels(selector: LogRange['log']['selector']): SeriesLabels {
  const labels = new Map<Bytes, Bytes>();
  for (const { name, op, value } of selector) {
    const isAlone = selector.filter(other => other.name === name).length === 1;
    if (op === '=' && isAlone && value !== '') labels.set(toBytes(name), toBytes(value));
  }
  return labels;
}

function aggregate(
  { op, range, parameter = 0 }: RangeAggregationExpr,
  window: readonly Sample[],
  start: bigint,
  end: bigint,
): number {
  const values = window.map(sample => sample.value);
  const seconds = Number(range.rangeNs) / 1e9;
  const sum = () => values.reduce((total, value) => total + value, 0);
  switch (op) {
    case 'count_over_time':
      return values.length;
    case 'rate':
    case 'bytes_rate':
      return sum() / seconds;
    case 'bytes_over_time':
    case 'sum_over_time':
      return sum();
    case 'avg_over_time':
      return mean(values);
    case 'min_over_time':
      return extreme(values, (a, b) => a < b);
    case 'max_over_time':
      return extreme(values, (a, b) => a > b);
    case 'stdvar_over_time':
      return variance(values);
    case 'stddev_over_time':
      return Math.sqrt(variance(values));
    case 'quantile_over_time':
      return quantile(parameter, values);
    case 'first_over_time':
      refuseTies(window.filter(sample => sample.timeNs === window[0].timeNs));
      return values[0];
    case 'last_over_time':
      refuseTies(window.filter(sample => sample.timeNs === window[window.length - 1].timeNs));
      return values[values.length - 1];
    case 'rate_counter':
      for (const tied of groupBy(window, sample => String(sample.timeNs)).values()) refuseTies(tied);
      return counterRate(window, start, end) / seconds;
    case 'absent_over_time':
      return 1;
  }
}

/** Which of two samples of one time comes first is not for the oracle to say. */
function refuseTies(tied: readonly Sample[]): void {
  if (tied.some(({ value }) => !Object.is(value, tied[0].value)))
    throw new Undecided('samples of equal time');
}

export function mean(values: readonly number[]): number {
  let result = 0;
  for (const [i, value] of values.entries()) {
    if (Math.abs(result) === Infinity && (Number.isFinite(value) || value === result)) continue;
    result += value / (i + 1) - result / (i + 1);
  }
  return result;
}

/** NaN is replaced by any later value. */
export function extreme(values: readonly number[], isBetter: (a: number, b: number) => boolean): number {
  return values.reduce((best, value) => (Number.isNaN(best) || isBetter(value, best) ? value : best));
}

export function variance(values: readonly number[]): number {
  let average = 0;
  let sum = 0;
  for (const [i, value] of values.entries()) {
    const delta = value - average;
    average += delta / (i + 1);
    sum += delta * (value - average);
  }
  return sum / values.length;
}

function quantile(q: number, values: readonly number[]): number {
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  const sorted = values.toSorted((a, b) =>
    Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : Number.isNaN(b) ? 1 : a - b,
  );
  const rank = q * (sorted.length - 1);
  const low = Math.max(0, Math.floor(rank));
  const weight = rank - low;
  const high = Math.min(sorted.length - 1, low + 1);
  return sorted[low] * (1 - weight) + sorted[high] * weight;
}

/** The increase over the whole window, extrapolated (docs/dev/logql-semantics.md#rate_counter). */
function counterRate(window: readonly Sample[], start: bigint, end: bigint): number {
  if (window.length < 2) return 0;
  const [first, last] = [window[0], window[window.length - 1]];
  let increase = last.value - first.value;
  let previous = 0;
  for (const { value } of window) {
    if (value < previous) increase += previous;
    previous = value;
  }
  const seconds = (ns: bigint) => Number(ns) / 1e9;
  const span = seconds(last.timeNs - first.timeNs);
  let before = seconds(first.timeNs - start);
  let behind = seconds(end - last.timeNs);
  const average = span / (window.length - 1);
  if (before >= average * 1.1) before = average / 2;
  if (increase > 0 && first.value >= 0) before = Math.min(before, span * (first.value / increase));
  if (behind >= average * 1.1) behind = average / 2;
  return increase * ((span + before + behind) / span);
}
