/** Pages with field columns, and queries run on them with columns instead of the parser. */

import { type SplitLines, splitLines } from '../../shared/base/kernels/split-lines.ts';
import { labelsToObject } from '../../shared/base/model/labels.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import {
  type FieldColumnBlock,
  FieldColumnWriter,
  type FieldColumnWriterOptions,
} from '../../shared/execution/fields/field-column-writer.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { type CompiledStages, compileStages } from '../../shared/execution/pipeline/compile.ts';
import { categoriesOf } from '../../shared/execution/pipeline/label-map.ts';
import { compileNarrower } from '../../shared/execution/pipeline/pushdown/narrow.ts';
import { type PushdownPlan, planPushdown } from '../../shared/execution/pipeline/pushdown/plan-pushdown.ts';
import type { FieldColumn, FieldColumns } from '../../shared/execution/pipeline/pushdown/pushdown-page.ts';
import { PushdownStage } from '../../shared/execution/pipeline/pushdown/pushdown-stage.ts';
import { Row, type RowStage } from '../../shared/execution/pipeline/row.ts';
import type { WantedNames } from '../../shared/execution/pipeline/row-labels.ts';
import { planSamples } from '../../shared/execution/pipeline/sample-plan.ts';
import { SeriesAssigner } from '../../shared/execution/pipeline/series-assigner.ts';
import { StageRunner } from '../../shared/execution/pipeline/stage-runner.ts';
import { compileUnwrap } from '../../shared/execution/pipeline/unwrap.ts';
import type { LogExpr, LogRange, Stage } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { decodeColumn, FALLBACK_ID } from '../../shared/storage/columns/column-decoder.ts';
import { fieldKey, fieldOfKey } from '../../shared/storage/columns/column-field.ts';
import { decodeSplitField } from '../../shared/storage/columns/split-field.ts';
import { SplitFrame } from '../../shared/storage/columns/split-frame.ts';
import { allRows, clock, type Sample, type Texts } from '../pipeline/support.ts';

/** Every field of every page becomes a column: tests want columns, not savings. */
export const EVERYTHING: FieldColumnWriterOptions = {
  compression: QUICK_COMPRESSION,
  maxShare: Infinity,
  maxRowBytes: Infinity,
  minRows: 1,
  maxFallbackShare: 1,
  maxResidualShare: Infinity,
  maxUnknownShare: 1,
  minSplitTexts: 0,
};

/** How a page has its fields: all as columns of values, or as columns of its split lines if they are there. */
export type FieldForm = 'values' | 'split';

export function blocksOf(page: PageRows, options = EVERYTHING): readonly FieldColumnBlock[] {
  return new FieldColumnWriter(options).columnsOf(page.lines, page.lineOffsets, page.rows);
}

/** Columns of a page, written and read back, and found by the name that they have in a footer. */
export function fieldColumnsOfPage(
  page: PageRows,
  options = EVERYTHING,
  form: FieldForm = 'values',
): FieldColumns {
  const columns = new Map<string, FieldColumn>();
  const { lines, lineOffsets, rows } = page;
  const split = form === 'split' ? splitLines({ lines, lineOffsets, rows }) : undefined;
  const blocks = new FieldColumnWriter(options).blocksOf(lines, lineOffsets, rows, { split });
  const frame = split && new SplitFrame(split.frame, rows, 'test');
  for (const { field: of, bytes, splitColumn } of blocks.columns) {
    const field = fieldOfKey(fieldKey(of))!;
    const column =
      splitColumn === undefined
        ? decodeColumn(bytes, rows, 'test')
        : decodeSplitField(
            frame!,
            blocks.templateParsers!,
            { parser: field.parser, column: splitColumn, bytes: columnOfSplit(split!, frame!, splitColumn) },
            'test',
          );
    if (splitColumn !== undefined) splitFields.count++;
    columns.set(`${field.parser} ${field.name}`, { field, column });
  }
  return {
    column: (parser, name) => columns.get(`${parser} ${name}`),
    guard: parser => columns.values().find(({ field }) => field.parser === parser)?.column,
    known: undefined,
  };
}

/** Number of fields that were columns of split lines. */
export const splitFields = { count: 0 };

function columnOfSplit({ columns }: SplitLines, frame: SplitFrame, column: number): Buffer {
  let at = 0;
  for (let before = 0; before < column; before++) at += frame.bytesOf(before);
  return Buffer.from(columns.subarray(at, at + frame.bytesOf(column)));
}

/** Each row's value of a column: a text, undefined (absent) or `parse` (only the parser knows). */
export function cellsOfColumn(
  page: PageRows,
  found: FieldColumn | undefined,
): (string | undefined | 'parse')[] {
  if (found === undefined) return new Array(page.rows).fill('parse');
  const { column } = found;
  return Array.from(column.ids, id => {
    if (id === FALLBACK_ID) return 'parse';
    return id === 0 ? undefined : column.valueAt(id - 1);
  });
}

interface ColumnAnswer<T> {
  readonly answer: T;
  /** The parser stage was replaced. */
  readonly replaced: boolean;
  /** Rows dropped by columns alone. */
  readonly dropped: number;
  /** Rows whose line was parsed. */
  readonly parsed: number;
}

interface LogRow {
  readonly row: number;
  readonly line: string;
  readonly categories: { readonly stream: Texts; readonly structuredMetadata: Texts; readonly parsed: Texts };
}

/** `{app="x"} STAGES` with columns; the rows that pass. */
export function logByColumns(stages: string, page: PageRows, form?: FieldForm): ColumnAnswer<LogRow[]> {
  const expr = parseQuery(`{app="x"} ${stages}`) as LogExpr;
  const row = new Row();
  const setup = prepare(expr.stages, row, page, planPushdown(expr.stages, {}), { form });
  const answer: LogRow[] = [];
  setup.run(number => {
    const { stream, structuredMetadata, parsed } = categoriesOf(row.labels);
    const categories = {
      stream: labelsToObject(stream),
      structuredMetadata: labelsToObject(structuredMetadata),
      parsed: labelsToObject(parsed),
    };
    answer.push({ row: number, line: row.line(), categories });
  });
  return { answer, ...setup.figures() };
}

/** Samples of the only range aggregation of a query, with columns. */
export function samplesByColumns(query: string, page: PageRows, form?: FieldForm): ColumnAnswer<Sample[]> {
  const expr = parseQuery(query);
  if (expr.kind === 'log') throw new Error('not a metric query');
  const [{ node, grouping }] = leavesOf(expr);
  const { range, op } = node;
  const plan = planSamples(range, op, node.grouping ?? grouping);
  const row = new Row(plan.wanted);
  const pushdown = plan.skipParsers ? undefined : planOf(plan.stages, range, plan.wanted);
  const unwrapper = range.unwrap && compileUnwrap(range.unwrap, row.labels);
  const assigner = new SeriesAssigner(row, plan.seriesLabels);
  const setup = prepare(plan.stages, row, page, pushdown, { skipParsers: plan.skipParsers, form });
  const answer: Sample[] = [];
  setup.run(number => {
    if (unwrapper !== undefined && !unwrapper.read()) return;
    const takesLength = op === 'bytes_over_time' || op === 'bytes_rate';
    const labels = labelsToObject(assigner.series.labelsOf(assigner.seriesOfRow()));
    answer.push({ row: number, labels, value: unwrapper?.value ?? (takesLength ? row.byteLength : 1) });
  });
  return { answer, ...setup.figures() };
}

function planOf(
  stages: readonly Stage[],
  range: LogRange,
  wanted: WantedNames | undefined,
): PushdownPlan | undefined {
  return planPushdown(stages, { wanted: wanted?.names, filtersAfter: range.unwrap?.filters });
}

function prepare(
  stages: readonly Stage[],
  row: Row,
  page: PageRows,
  plan: PushdownPlan | undefined,
  { skipParsers = false, form }: { readonly skipParsers?: boolean; readonly form?: FieldForm | undefined },
) {
  const compiled = compileStages(stages, row, { clock, skipParsers });
  const fieldColumns = fieldColumnsOfPage(page, EVERYTHING, form);
  let parsed = 0;
  let stage: PushdownStage | undefined;
  const replaced: CompiledStages =
    plan?.labels === undefined ? compiled : replaceParser(compiled, stages, plan);

  function replaceParser(
    all: CompiledStages,
    of: readonly Stage[],
    { stage: at }: PushdownPlan,
  ): CompiledStages {
    const before = of.slice(0, at).filter(({ kind }) => kind === 'labelFilter');
    const index = all.rowStages.length - (all.rowStagesWithLabelFilters.length - before.length);
    const counted: RowStage = current => {
      parsed++;
      return all.rowStages[index](current);
    };
    stage = new PushdownStage(plan!, row.labels, counted);
    return {
      ...all,
      rowStages: all.rowStages.with(index, stage.stage),
      rowStagesWithLabelFilters: all.rowStagesWithLabelFilters.with(before.length, stage.stage),
    };
  }

  const runner = new StageRunner(row, replaced);
  let dropped = 0;
  return {
    run(emit: (row: number) => void) {
      const selection = allRows(page);
      let count = page.rows;
      if (plan !== undefined) count = compileNarrower(plan).narrow(page, fieldColumns, selection, count);
      dropped = page.rows - count;
      stage?.enterPage(fieldColumns);
      const readsLines = stage?.needsLines(page, selection, count) ?? true;
      const left = runner.begin(page, selection, count);
      for (let from = 0; from < left; ) {
        const groupEnd = runner.groupEnd(selection, from, left);
        const to = runner.enterGroup(selection, from, groupEnd);
        for (let i = from; i < to; i++) if (runner.process(selection[i])) emit(selection[i]);
        from = groupEnd;
      }
      if (!readsLines && parsed > 0) throw new Error('lines were parsed that were said not to be needed');
    },
    figures: () => ({ replaced: stage !== undefined, dropped, parsed }),
  };
}
