/**
 * Compiled stages on a page: filters that work on the whole page first, then run by run (rows of one stream), then row
 * by row. The log pipeline and the sample extractor are this plus what they make of a row that is left.
 */
import type { PageRows, Run, Stream } from '../model/page.ts';
import type { CompiledStages } from './compile.ts';
import { selectLines } from './page-filters.ts';
import type { Row, RowStage } from './row.ts';

export class StageRunner {
  readonly row: Row;
  readonly #stages: CompiledStages;
  #rowStages: readonly RowStage[];
  #page: PageRows | undefined;
  #run = 0;

  constructor(row: Row, stages: CompiledStages) {
    this.row = row;
    this.#stages = stages;
    this.#rowStages = stages.rowStages;
    row.labels.names.pin();
  }

  /** Starts a page. Narrows `selection[0..count)` in place by the line filters; the new count. */
  begin(page: PageRows, selection: Uint32Array, count: number): number {
    this.#page = page;
    this.#run = 0;
    this.row.enterPage(page);
    let left = count;
    for (const filter of this.#stages.lineFilters) {
      if (left === 0) break;
      left = selectLines(page, selection, left, filter);
    }
    return left;
  }

  /** Place in the selection after the rows that share a run with the row at `from`. Runs are met in order. */
  groupEnd(selection: Uint32Array, from: number, count: number): number {
    const { runs } = this.#page!;
    while (endOf(runs[this.#run]) <= selection[from]) this.#run++;
    const stop = endOf(runs[this.#run]);
    if (selection[count - 1] < stop) return count;
    let low = from + 1;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (selection[middle] < stop) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Enters the run of the rows `selection[from..to)` and narrows them in place by the filters on labels as stored;
   * the new end.
   */
  enterGroup(selection: Uint32Array, from: number, to: number): number {
    const stream: Stream = this.#page!.runs[this.#run].stream;
    const { labels } = this.row;
    const { labelFilters, runFilters } = this.#stages;
    labels.enterRun(stream);
    this.#rowStages = this.#stages.rowStages;
    if (runFilters.length > 0) {
      labels.enterRow(selection[from]);
      for (const { id, test } of runFilters) {
        if (labels.streamHas(id) && !labels.hasColumn(id) && !test(labels)) return from;
      }
    }
    let left = to;
    for (const filter of labelFilters) {
      if (left === from) break;
      left = filter.narrow(labels, selection, from, left);
      if (filter.failed) this.#rowStages = this.#stages.rowStagesWithLabelFilters;
    }
    return left;
  }

  /** True where the rows of the current run need no work of their own: their labels and lines are as stored. */
  get isPlain(): boolean {
    return this.#rowStages.length === 0 && !this.row.labels.hasErrorColumns;
  }

  /** Runs the row stages on a row of the current run. False where one dropped it. */
  process(row: number): boolean {
    this.row.enter(row);
    const stages = this.#rowStages;
    for (let i = 0; i < stages.length; i++) if (!stages[i](this.row)) return false;
    return true;
  }
}

function endOf(run: Run): number {
  return run.firstRow + run.rows;
}
