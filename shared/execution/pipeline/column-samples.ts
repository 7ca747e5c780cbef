/**
 * Samples of rows that promoted columns answer for, column by column and without a row at all: the value from one column, the
 * series from the stream and at most one other. That is what most dashboards ask of parsed lines, as
 * `sum by (status) (count_over_time({app="x"} | json [1m]))` and `quantile_over_time(0.9, {app="x"} | json | unwrap ms [1m]) by (app)`.
 *
 * What a value converts to and which series it goes to is never decided here: the first row with a value goes through the
 * stages, and what came of it is kept for the next ones. Rows whose value
 * does not convert all go that way.
 */
import type { PromotedColumn } from '../../base/model/page-fields.ts';
import type { PromotedStage } from './pushdown/pushdown-stage.ts';
import type { SeriesAssigner } from './series-assigner.ts';
import type { StageRunner } from './stage-runner.ts';
import { PLAIN, type Unwrapper } from './unwrap.ts';

/** What is known of a value of a column; at first nothing. */
const NUMBER = 1;
/** Empty: the row gives no sample. */
const NOTHING = 2;
/** The row has an error, which is not that of the value alone. */
const FAILED = 3;

/** Numbers of a column's values, by place. */
interface ConvertedValues {
  readonly numbers: Float64Array;
  readonly states: Uint8Array;
}

/** They go with the column, which a cache of pages may keep. By the conversion's name. */
const CONVERTED = new WeakMap<PromotedColumn, Map<string, ConvertedValues>>();

export interface ColumnSamplesParts {
  readonly runner: StageRunner;
  readonly assigner: SeriesAssigner;
  readonly stage: PromotedStage;
  readonly unwrapper: Unwrapper | undefined;
}

/** What a group of rows appends to; the arrays have room for it. */
export interface SampleColumns {
  readonly rows: Uint32Array;
  readonly series: Uint32Array;
  /** Where there is an unwrapper. */
  readonly values: Float64Array;
}

export class ColumnSamples {
  readonly #parts: ColumnSamplesParts;
  // Of the run at hand.
  #values: PromotedColumn | undefined;
  #groups: PromotedColumn | undefined;
  /** For each value of the column that splits the run: the run, and its series. */
  #groupRuns = new Float64Array(0);
  #groupSeries = new Uint32Array(0);

  constructor(parts: ColumnSamplesParts) {
    this.#parts = parts;
  }

  /** True where columns answer for all rows of the run that the runner has entered. */
  enterRun(): boolean {
    const { runner, assigner, stage, unwrapper } = this.#parts;
    if (!runner.runsOnly(stage.stage) || unwrapper?.hasFilters) return false;
    const columns = stage.columnsOfRun(runner.run);
    if (columns === undefined) return false;
    this.#values = unwrapper && columns.get(unwrapper.label);
    if (unwrapper !== undefined && this.#values === undefined) return false;
    const names = assigner.groupingNames;
    if (names === undefined) return false;
    const { labels } = runner.row;
    if ([...columns.keys()].some(id => labels.hasColumn(id))) return false;
    const split = names.filter(id => columns.has(id));
    if (split.length > 1 || names.some(id => !columns.has(id) && labels.hasColumn(id))) return false;
    this.#groups = split.length === 0 ? undefined : columns.get(split[0]);
    return true;
  }

  /** Appends the samples of `selection[from..to)`, in row order, at `at`; returns the place behind them. */
  append(selection: Uint32Array, from: number, to: number, out: SampleColumns, at: number): number {
    const { rows, series, values } = out;
    const valueIds = this.#values?.ids;
    const known = this.#values && this.#convertedOf(this.#values);
    const groupIds = this.#groups?.ids;
    this.#reserveGroups(this.#groups?.count ?? 0);
    const { labels } = this.#parts.runner.row;
    const groupRuns = this.#groupRuns;
    const groupSeries = this.#groupSeries;
    const run = labels.runSerial;
    let end = at;
    for (let i = from; i < to; i++) {
      const row = selection[i];
      if (valueIds !== undefined) {
        const value = valueIds[row] - 1;
        if (value < 0) continue;
        if (known!.states[value] !== NUMBER) {
          const state = this.#resolveValue(row, value, known!);
          if (state === NOTHING) continue;
          if (state === FAILED) {
            // The row is as its stages left it.
            values[end] = this.#parts.unwrapper!.value;
            rows[end] = row;
            series[end++] = this.#parts.assigner.seriesOfRow();
            continue;
          }
        }
        values[end] = known!.numbers[value];
      }
      const group = groupIds === undefined ? 0 : groupIds[row];
      if (groupRuns[group] !== run) {
        this.#parts.runner.process(row);
        groupSeries[group] = this.#parts.assigner.seriesOfRow();
        groupRuns[group] = run;
      }
      rows[end] = row;
      series[end++] = groupSeries[group];
    }
    return end;
  }

  /** What is known of a value, once its row went through the stages. */
  #resolveValue(row: number, value: number, { numbers, states }: ConvertedValues): number {
    if (states[value] === NOTHING) return NOTHING;
    const { runner, unwrapper } = this.#parts;
    runner.process(row);
    const isSample = unwrapper!.read();
    if (runner.row.labels.error !== '') states[value] = FAILED;
    else if (isSample) {
      states[value] = NUMBER;
      numbers[value] = unwrapper!.value;
    } else states[value] = NOTHING;
    return states[value];
  }

  #convertedOf(column: PromotedColumn): ConvertedValues {
    const { conversion } = this.#parts.unwrapper!;
    let byConversion = CONVERTED.get(column);
    if (byConversion === undefined) CONVERTED.set(column, (byConversion = new Map()));
    let known = byConversion.get(conversion);
    if (known === undefined) byConversion.set(conversion, (known = convertedOf(column, conversion)));
    return known;
  }

  #reserveGroups(count: number): void {
    if (this.#groupSeries.length > count) return;
    this.#groupRuns = new Float64Array(count + 1);
    this.#groupSeries = new Uint32Array(count + 1);
  }
}

/** Numbers without a unit are known; the others are as soon as a row asks. */
function convertedOf({ count, numbers }: PromotedColumn, conversion: string): ConvertedValues {
  const states = new Uint8Array(count);
  if (numbers === undefined || conversion !== PLAIN) return { numbers: new Float64Array(count), states };
  let isComplete = true;
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(numbers[i])) isComplete = false;
    else states[i] = NUMBER;
  }
  return { numbers: isComplete ? numbers : Float64Array.from(numbers), states };
}
