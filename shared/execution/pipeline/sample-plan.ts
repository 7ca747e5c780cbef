/**
 * Plans a metric query before any line is read (docs/dev/logql-semantics.md#parsers-that-are-skipped, #labels-of-a-series): the labels of series, the names
 * that parsers must extract, whether parsers run at all, and the columns of a page to read.
 */

import { DUPLICATE_SUFFIX, ERROR_DETAILS_LABEL, ERROR_LABEL } from '../../base/text/names.ts';
import type { Grouping, LabelFilter, LogRange, RangeOp, Stage } from '../../language/logql/ast.ts';
import { isParser } from './compile.ts';
import { filterCanFail, namesOfFilter } from './label-filter.ts';
import type { WantedNames } from './row-labels.ts';
import { compileTemplate } from './template/template.ts';

/** Labels of the series of a sample. A sample with an error always has all of them. */
export type SeriesLabels =
  | { readonly kind: 'none' }
  | { readonly kind: 'all' }
  | { readonly kind: 'by'; readonly names: readonly string[] }
  | { readonly kind: 'without'; readonly names: readonly string[] };

/** Columns of a page that a pipeline reads. */
export interface ColumnNeeds {
  /** Needed form of lines; `lengths` are the line offsets without the bytes. */
  readonly lines: 'none' | 'lengths' | 'bytes';
  readonly metadata: 'all' | ReadonlySet<string>;
}

interface SamplePlan {
  /** Stages to run: those of the query without any line_format that no later stage reads (docs/dev/logql-semantics.md#line_format). */
  readonly stages: readonly Stage[];
  readonly seriesLabels: SeriesLabels;
  /** Names to extract; undefined if everything is extracted. */
  readonly wanted: WantedNames | undefined;
  /** Whether no extracted label is visible: parsers then do not run, and cannot fail. */
  readonly skipParsers: boolean;
  readonly needs: ColumnNeeds;
}

/** @param grouping Grouping of the aggregation itself, or pushed down from a sum around it */
export function planSamples(range: LogRange, op: RangeOp, grouping: Grouping | undefined): SamplePlan {
  const countsBytes = op === 'bytes_over_time' || op === 'bytes_rate';
  const stages = countsBytes ? range.log.stages : withoutUnreadLineFormats(range.log.stages);
  const seriesLabels = seriesLabelsOf(range, op, grouping);
  const { names, readsAll } = namesRead(stages, range);
  if (seriesLabels.kind === 'by') for (const name of seriesLabels.names) names.add(name);
  for (const name of [...names]) {
    if (name.endsWith(DUPLICATE_SUFFIX)) names.add(name.slice(0, -DUPLICATE_SUFFIX.length));
  }
  const skipParsers = seriesLabels.kind === 'none' && names.size === 0 && !readsAll;
  const keepsAll = seriesLabels.kind === 'all' || seriesLabels.kind === 'without' || readsAll;
  const preserveErrors = names.has(ERROR_LABEL);
  const restricted = !keepsAll && !skipParsers;
  return {
    stages,
    seriesLabels,
    wanted: restricted ? { names: [...names], preserveErrors } : undefined,
    skipParsers,
    needs: {
      lines: linesNeeded(stages, skipParsers, countsBytes && range.unwrap === undefined),
      metadata: keepsAll || preserveErrors ? 'all' : metadataNamed(new Set([...names, ...namesSet(stages)])),
    },
  };
}

/** Returns the names of logfmt expressions: metadata with such a name affects how far the line is read. */
function namesSet(stages: readonly Stage[]): string[] {
  return stages.flatMap(stage => (stage.kind === 'logfmt' ? stage.extractions.map(({ name }) => name) : []));
}

function seriesLabelsOf(range: LogRange, op: RangeOp, grouping: Grouping | undefined): SeriesLabels {
  if (op === 'absent_over_time') return { kind: 'none' };
  if (grouping !== undefined && !grouping.without) {
    return grouping.labels.length === 0 ? { kind: 'none' } : { kind: 'by', names: grouping.labels };
  }
  const names = [...(grouping?.labels ?? [])];
  if (range.unwrap !== undefined) names.push(range.unwrap.label);
  return names.length === 0 ? { kind: 'all' } : { kind: 'without', names };
}

/** Returns the names that stages and the unwrap read. */
function namesRead(
  stages: readonly Stage[],
  { unwrap }: LogRange,
): { names: Set<string>; readsAll: boolean } {
  const names = new Set<string>();
  let readsAll = false;
  const addFilter = (filter: LabelFilter) => {
    for (const name of namesReadBy(filter)) names.add(name);
  };
  const addTemplate = (text: string, kind: 'line' | 'label') => {
    const template = templateOrUndefined(text, kind);
    for (const field of template?.fields ?? []) names.add(field);
    if (template?.readsAllFields) readsAll = true;
  };
  for (const stage of stages) {
    if (stage.kind === 'labelFilter') addFilter(stage.filter);
    if (stage.kind === 'lineFormat') addTemplate(stage.template, 'line');
    if (stage.kind !== 'labelFormat') continue;
    for (const item of stage.items) {
      if (item.kind === 'rename') names.add(item.source);
      else addTemplate(item.template, 'label');
    }
  }
  if (unwrap !== undefined) {
    names.add(unwrap.label);
    for (const filter of unwrap.filters) addFilter(filter);
  }
  return { names, readsAll };
}

/** `=~".*"` filters nothing (docs/dev/logql-semantics.md#label-filters): a parser before it need not run. */
function namesReadBy(filter: LabelFilter): string[] {
  if (filter.kind === 'and' || filter.kind === 'or') {
    return [...namesReadBy(filter.left), ...namesReadBy(filter.right)];
  }
  const acceptsAll = filter.kind === 'string' && filter.matcher.op === '=~' && filter.matcher.value === '.*';
  return acceptsAll ? [] : namesOfFilter(filter);
}

/** A template that does not compile is reported later, with its stage. */
function templateOrUndefined(text: string, kind: 'line' | 'label') {
  try {
    return compileTemplate(text, kind);
  } catch {
    return undefined;
  }
}

function withoutUnreadLineFormats(stages: readonly Stage[]): readonly Stage[] {
  const lastReader = stages.findLastIndex(stage => stage.kind === 'lineFilter' || isParser(stage));
  return stages.filter((stage, i) => stage.kind !== 'lineFormat' || i < lastReader);
}

function linesNeeded(
  stages: readonly Stage[],
  skipParsers: boolean,
  countsBytes: boolean,
): ColumnNeeds['lines'] {
  const readsLine = stages.some(stage => {
    if (isParser(stage)) return !skipParsers;
    return ['lineFilter', 'lineFormat', 'labelFormat', 'decolorize'].includes(stage.kind);
  });
  if (readsLine) return 'bytes';
  return countsBytes ? 'lengths' : 'none';
}

/**
 * A name may come from the column of that name, or from one that gets the suffix because of a stream label.
 */
function metadataNamed(names: ReadonlySet<string>): ReadonlySet<string> {
  if (names.size === 0) return names;
  return new Set([...names, ERROR_LABEL, ERROR_DETAILS_LABEL]);
}

/** Returns whether some stage or the unwrap can set `__error__`. */
export function canFail(range: LogRange): boolean {
  if (range.unwrap !== undefined) return true;
  return range.log.stages.some(stage => {
    switch (stage.kind) {
      case 'json':
      case 'unpack':
      case 'lineFormat':
      case 'labelFormat':
        return true;
      case 'logfmt':
        return stage.strict;
      case 'labelFilter':
        return filterCanFail(stage.filter);
      default:
        return false;
    }
  });
}
