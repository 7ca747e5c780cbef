/**
 * Samples from field columns, without processing rows: the value comes from one column, the series from the
 * stream and at most one other column. Most dashboard queries on parsed lines have this form. Examples are
 * `sum by (status) (count_over_time({app="x"} | json [1m]))` and `quantile_over_time(0.9, {app="x"} | json |
 * unwrap ms [1m]) by (app)`.
 *
 * This module decides neither conversions nor series. The first row with a value runs through the stages, and
 * the result is reused for later rows. Rows whose value does not convert always run through the stages.
 */
import type { DecodedColumn } from '../../base/model/page-fields.ts';
import type { PushdownStage } from './pushdown/pushdown-stage.ts';
import type { SeriesAssigner } from './series-assigner.ts';
import type { StageRunner } from './stage-runner.ts';
import { PLAIN, type Unwrapper } from './unwrap.ts';

/** Cached states of a column's value; initially unknown. NUMBER: the value converts. */
const NUMBER = 1;
/** The value is empty: the row yields no sample. */
const NOTHING = 2;
/** The row has an error, which depends on more than the value. */
const FAILED = 3;

/** Numbers of a column's values, by value index. */
interface ConvertedValues {
  readonly numbers: Float64Array;
  readonly states: Uint8Array;
}

/**
 * Conversions by column, then by conversion name. They live as long as the column, which a page cache may
 * hold.
 */
const CONVERTED = new WeakMap<DecodedColumn, Map<string, ConvertedValues>>();

interface ColumnSamplesParts {
  readonly runner: StageRunner;
  readonly assigner: SeriesAssigner;
  readonly stage: PushdownStage;
  readonly unwrapper: Unwrapper | undefined;
}

/** Arrays to which a group of rows appends; they have space for it. */
interface SampleColumns {
  readonly rows: Uint32Array;
  readonly series: Uint32Array;
  /** Present if there is an unwrapper. */
  readonly values: Float64Array;
}

export class ColumnSamples {
  readonly #parts: ColumnSamplesParts;
  // Columns of the current run.
  #values: DecodedColumn | undefined;
  #groups: DecodedColumn | undefined;
  /** For each value of the column that splits the run: the run, and its series. */
  #groupRuns = new Float64Array(0);
  #groupSeries = new Uint32Array(0);

  constructor(parts: ColumnSamplesParts) {
    this.#parts = parts;
  }

  /** Returns whether columns cover all rows of the run that the runner has entered. */
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

  /**
   * Appends the samples of `selection[from..to)`, in row order, at `at`. Returns the end of the appended
   * samples.
   */
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
            // The row is in the state in which its stages left it.
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

  /** Returns the state of a value, by running a row that has it through the stages. */
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

  #convertedOf(column: DecodedColumn): ConvertedValues {
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

/** Numbers without a unit are known; the others are converted when a row needs them. */
function convertedOf({ count, numbers }: DecodedColumn, conversion: string): ConvertedValues {
  const states = new Uint8Array(count);
  if (numbers === undefined || conversion !== PLAIN) return { numbers: new Float64Array(count), states };
  let isComplete = true;
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(numbers[i])) isComplete = false;
    else states[i] = NUMBER;
  }
  return { numbers: isComplete ? numbers : Float64Array.from(numbers), states };
}
