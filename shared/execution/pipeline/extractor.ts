/**
 * Metric queries on a page: one sample for each row that passes all stages, with its value and the number of
 * its series (docs/dev/logql-semantics.md#parsers-that-are-skipped, #sample-values, #labels-of-a-series).
 *
 *     const extractor = compileSampleExtractor(range, { op, grouping, clock });
 *     const batch = extractor.extract(page, selection, count);
 *     extractor.series.labelsOf(batch.series[0]);
 *
 * The next call reuses the batch and its arrays; the series table persists.
 *
 * Pitfall: a row with an error has all its labels with any grouping, so that the failure is found
 * (`sampleFailure`).
 */

import type { SharedMemory } from '../../base/model/memory-budget.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { FieldColumnWants } from '../../base/model/page-fields.ts';
import type { SampleBatch } from '../../base/model/samples.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Grouping, LogRange, RangeOp } from '../../language/logql/ast.ts';
import { CaptureFilters } from './capture-filters.ts';
import { ColumnSamples } from './column-samples.ts';
import { compileStages } from './compile.ts';
import { PatternSamples } from './pattern-samples.ts';
import { type PreparedRows, planPushdownRows } from './pushdown/pushdown-rows.ts';
import { Row } from './row.ts';
import { sampleFailure } from './sample-failure.ts';
import { type ColumnNeeds, canFail, planSamples } from './sample-plan.ts';
import type { Series } from './series.ts';
import { SeriesAssigner } from './series-assigner.ts';
import { type RowNarrower, StageRunner } from './stage-runner.ts';
import type { TimeSlice } from './time-slice.ts';
import { compileUnwrap, type Unwrapper } from './unwrap.ts';

export { sampleFailure } from './sample-failure.ts';
export type { ColumnNeeds } from './sample-plan.ts';

interface ExtractorOptions {
  readonly op: RangeOp;
  /** Grouping of the aggregation, or of a sum around it that may be pushed down (docs/dev/logql-semantics.md#parsers-that-are-skipped). */
  readonly grouping?: Grouping;
  /**
   * Grouping of a sum directly around, used if the aggregation has no grouping and the operation is additive.
   */
  readonly outerGrouping?: Grouping;
  readonly clock: Clock;
  readonly timeSlice?: TimeSlice;
  /** Hides rows after the line filters. */
  readonly hidden?: RowNarrower;
  /** Memory budget that is also charged for the labels of series. */
  readonly memory?: SharedMemory | undefined;
}

export interface SampleExtractor {
  /**
   * Columns that a page must provide. Values are exact with these columns; the labels of a failed series need
   * `all`.
   */
  readonly needs: ColumnNeeds;
  /** Columns for the full labels of failed series. */
  readonly needsForFailures: ColumnNeeds;
  /** Field columns that avoid reading lines. A page without them yields the same result. */
  readonly fieldColumns: FieldColumnWants | undefined;
  readonly series: Series;
  /**
   * Reduces the rows before lines are read. Optional. If the result says that no line is needed, `extract`
   * accepts the page without its lines (but with line lengths if `needs` requests lines).
   */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows;
  /**
   * Extracts samples of the rows `selection[0..count)` (ascending), in row order, and overwrites the
   * selection. With a time slice, `timeSlice.left` rows remain at its start for the next call.
   */
  extract(page: PageRows, selection: Uint32Array, count: number): SampleBatch;
  /** Error text of the first series that failed so far, or undefined. */
  failure(): string | undefined;
}

const ADDITIVE: ReadonlySet<RangeOp> = new Set<RangeOp>([
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
]);

/** Throws BadRequestError for an invalid stage. */
export function compileSampleExtractor(range: LogRange, options: ExtractorOptions): SampleExtractor {
  const { op, clock, timeSlice, hidden } = options;
  const grouping = options.grouping ?? (ADDITIVE.has(op) ? options.outerGrouping : undefined);
  const plan = planSamples(range, op, grouping);
  const row = new Row(plan.wanted);
  const pushdown = plan.skipParsers
    ? undefined
    : planPushdownRows(plan.stages, { wanted: plan.wanted, filtersAfter: range.unwrap?.filters });
  const compiled = compileStages(plan.stages, row, { clock, skipParsers: plan.skipParsers, pushdown });
  const unwrapper = range.unwrap === undefined ? undefined : compileUnwrap(range.unwrap, row.labels);
  const takesLength = op === 'bytes_over_time' || op === 'bytes_rate';
  const assigner = new SeriesAssigner(row, plan.seriesLabels, options.memory);
  const runner = new StageRunner(row, compiled, { timeSlice, hidden, pushdown });
  const needs = plan.needs;
  const needsForFailures: ColumnNeeds = canFail(range) ? { ...needs, metadata: 'all' } : needs;
  const columns =
    pushdown?.stage && new ColumnSamples({ runner, assigner, stage: pushdown.stage, unwrapper });
  const patterns =
    compiled.pattern && new PatternSamples({ runner, assigner, plan: compiled.pattern, unwrapper });
  const captureFilters =
    plan.skipParsers || patterns?.fits === true
      ? undefined
      : CaptureFilters.of(plan.stages, range.unwrap?.filters ?? []);
  const extractor = new Extractor({ runner, assigner, unwrapper, columns, patterns, takesLength });
  let checked = 0;
  let firstFailure: string | undefined;
  return {
    needs,
    needsForFailures,
    fieldColumns: pushdown?.wants,
    series: assigner.series,
    prepare(page, selection, count) {
      if (pushdown !== undefined) return pushdown.prepare(page, selection, count);
      const left = captureFilters?.narrow(page, selection, count) ?? count;
      return { count: left, needsLines: left > 0 && needs.lines === 'bytes' };
    },
    extract(page, selection, count) {
      const batch = extractor.extract(page, selection, count);
      captureFilters?.note(count - (timeSlice?.left ?? 0), batch.count);
      return batch;
    },
    failure() {
      for (; firstFailure === undefined && checked < assigner.series.count; checked++) {
        firstFailure = sampleFailure(assigner.series.labelsOf(checked));
      }
      return firstFailure;
    },
  };
}

const NO_FLOATS = new Float64Array(0);
const NO_ROWS = new Uint32Array(0);

/** Arrays of one batch, reused. */
interface MutableBatch {
  baseNs: bigint;
  times: Float64Array;
  count: number;
  rows: Uint32Array;
  series: Uint32Array;
  values: Float64Array | undefined;
}

interface ExtractorParts {
  readonly runner: StageRunner;
  readonly assigner: SeriesAssigner;
  readonly unwrapper: Unwrapper | undefined;
  /** Set if columns replace a parser. */
  readonly columns: ColumnSamples | undefined;
  /** Set if the only stages are a pattern and filters on its captures. */
  readonly patterns: PatternSamples | undefined;
  readonly takesLength: boolean;
}

class Extractor {
  readonly #runner: StageRunner;
  readonly #assigner: SeriesAssigner;
  readonly #unwrapper: Unwrapper | undefined;
  readonly #columns: ColumnSamples | undefined;
  readonly #patterns: PatternSamples | undefined;
  readonly #takesLength: boolean;
  #values = NO_FLOATS;
  readonly #batch: MutableBatch = {
    baseNs: 0n,
    times: NO_FLOATS,
    count: 0,
    rows: NO_ROWS,
    series: NO_ROWS,
    values: undefined,
  };

  constructor({ runner, assigner, unwrapper, columns, patterns, takesLength }: ExtractorParts) {
    this.#runner = runner;
    this.#assigner = assigner;
    this.#unwrapper = unwrapper;
    this.#takesLength = takesLength && unwrapper === undefined;
    this.#columns = this.#takesLength ? undefined : columns;
    this.#patterns = this.#takesLength ? undefined : patterns;
  }

  extract(page: PageRows, selection: Uint32Array, count: number): SampleBatch {
    const batch = this.#batch;
    const runner = this.#runner;
    const left = runner.begin(page, selection, count);
    this.#reserve(left);
    batch.baseNs = page.baseNs;
    batch.times = page.times;
    batch.count = 0;
    this.#patterns?.enterPage(selection, left);
    for (let from = 0; from < left; ) {
      const groupEnd = runner.groupEnd(selection, from, left);
      const to = runner.enterGroup(selection, from, groupEnd);
      if (to > from) {
        if (runner.isPlain && this.#unwrapper === undefined) this.#plainGroup(page, selection, from, to);
        else if (this.#columns?.enterRun()) {
          const { rows, series } = batch;
          const out = { rows, series, values: this.#values };
          batch.count = this.#columns.append(selection, from, to, out, batch.count);
        } else {
          const next = this.#patterns?.enterRun()
            ? this.#byPattern(this.#patterns, selection, from, to)
            : this.#rowByRow(selection, from, to);
          if (next < to) {
            runner.leave(selection, next, to, groupEnd, left);
            return batch;
          }
        }
      }
      from = groupEnd;
    }
    return batch;
  }

  #reserve(rows: number): void {
    const batch = this.#batch;
    if (batch.rows.length < rows) {
      batch.rows = new Uint32Array(rows);
      batch.series = new Uint32Array(rows);
    }
    if (this.#unwrapper === undefined && !this.#takesLength) return;
    if (this.#values.length < rows) this.#values = new Float64Array(rows);
    batch.values = this.#values;
  }

  /** Appends rows whose labels and lines are as stored. */
  #plainGroup({ lineOffsets }: PageRows, selection: Uint32Array, from: number, to: number): void {
    const batch = this.#batch;
    const at = batch.count;
    batch.rows.set(selection.subarray(from, to), at);
    this.#assigner.assignPlain(selection, from, to, batch.series, at);
    if (this.#takesLength) {
      const values = this.#values;
      for (let i = from; i < to; i++) {
        const row = selection[i];
        values[at + i - from] = lineOffsets[row + 1] - lineOffsets[row];
      }
    }
    batch.count = at + to - from;
  }

  /** Works as `#rowByRow`, with a pattern. */
  #byPattern(patterns: PatternSamples, selection: Uint32Array, from: number, to: number): number {
    const { rows, series } = this.#batch;
    patterns.count = this.#batch.count;
    const next = patterns.append(selection, from, to, { rows, series, values: this.#values });
    this.#batch.count = patterns.count;
    return next;
  }

  /**
   * Returns the index of the first row that it left when its time slice ended, or `to` when all are done.
   */
  #rowByRow(selection: Uint32Array, from: number, to: number): number {
    const batch = this.#batch;
    const runner = this.#runner;
    const unwrapper = this.#unwrapper;
    const { rows, series } = batch;
    let at = batch.count;
    let next = from;
    while (next < to) {
      const row = selection[next];
      if (runner.process(row) && (unwrapper === undefined || unwrapper.read())) {
        if (unwrapper !== undefined) this.#values[at] = unwrapper.value;
        else if (this.#takesLength) this.#values[at] = runner.row.byteLength;
        rows[at] = row;
        series[at] = this.#assigner.seriesOfRow();
        at++;
      }
      if (runner.isOver(next++)) break;
    }
    batch.count = at;
    return next;
  }
}
