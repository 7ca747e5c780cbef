/**
 * Runs compiled stages on a page: first filters on the whole page, then run by run (rows of one stream), then
 * row by row. The log pipeline and the sample extractor add the processing of rows that pass.
 */
import { lowerBound } from '../../base/model/binary-search.ts';
import type { BytePattern } from '../../base/model/byte-pattern.ts';
import type { PageRows, Run, Stream } from '../../base/model/page.ts';
import type { CompiledStages } from './compile.ts';
import type { LineFilter } from './line-filter.ts';
import { isSlowFilter, requiredPatterns, selectKnownLines, selectLines } from './page-filters.ts';
import type { PushdownRows } from './pushdown/pushdown-rows.ts';
import type { Row, RowStage } from './row.ts';
import type { TimeSlice } from './time-slice.ts';

/**
 * Number of rows between two reads of the clock if no stage can be slow, minus one. A power of two minus one.
 */
const FAST_ROWS_MASK = 63;
/**
 * Bytes of lines between two reads of the clock in a slow line filter, which take up to 0.1 s. A longer line
 * is one step.
 */
const SLOW_FILTER_BYTES = 1024;

/**
 * Removes rows of the current page from `selection[0..count)`, ascending. Returns the number of remaining
 * rows.
 */
export interface RowNarrower {
  narrow(selection: Uint32Array, count: number): number;
}

interface RunnerOptions {
  readonly timeSlice?: TimeSlice | undefined;
  /** Called once per page, for the rows that its line filters left. */
  readonly hidden?: RowNarrower | undefined;
  /** Field columns with which the stages were compiled. */
  readonly pushdown?: PushdownRows | undefined;
}

export class StageRunner {
  readonly row: Row;
  readonly #stages: CompiledStages;
  #rowStages: readonly RowStage[];
  #page: PageRows | undefined;
  #run = 0;
  readonly #timeSlice: TimeSlice | undefined;
  /** First line filter that the rows of the page have not passed through. */
  #nextFilter = 0;
  /** Number of rows at the start of the selection that have passed through it already. */
  #filtered = 0;
  /** Whether the rows of the page have passed through `#hidden`. */
  #isNarrowed = false;
  readonly #hidden: RowNarrower | undefined;
  readonly #pushdown: PushdownRows | undefined;
  /** Each line that passes the filters contains one of them, if there are any. */
  readonly #patterns: readonly BytePattern[];

  constructor(row: Row, stages: CompiledStages, { timeSlice, hidden, pushdown }: RunnerOptions = {}) {
    this.#pushdown = pushdown;
    this.row = row;
    this.#stages = stages;
    this.#timeSlice = timeSlice;
    this.#hidden = hidden;
    this.#patterns = requiredPatterns(stages.lineFilters);
    this.#rowStages = stages.rowStages;
    row.labels.names.pin();
  }

  /**
   * Starts a page, or continues with the rows that the last time slice left. Narrows `selection[0..count)` in
   * place by the line filters. Returns the new count, or 0 if the time slice ends before all filters are
   * done.
   */
  begin(stored: PageRows, selection: Uint32Array, count: number): number {
    const timeSlice = this.#timeSlice;
    const { lineFilters } = this.#stages;
    const isFirst = timeSlice === undefined || timeSlice.left === 0;
    const narrowed = isFirst ? stored.narrow?.(selection, count, this.#patterns) : undefined;
    const page = narrowed?.page ?? stored;
    this.#page = page;
    this.#run = 0;
    this.row.enterPage(page);
    this.#pushdown?.enterPage(page);
    if (isFirst) {
      this.#nextFilter = 0;
      this.#filtered = 0;
      this.#isNarrowed = false;
      this.#stages.scanned?.enterPage(page);
    } else timeSlice.left = 0;
    let left = narrowed?.count ?? count;
    while (this.#nextFilter < lineFilters.length && left > 0) {
      left = this.#filter(page, selection, left, lineFilters[this.#nextFilter]);
      if (this.#filtered === left) {
        this.#nextFilter++;
        this.#filtered = 0;
      }
      if (timeSlice?.isOver && this.#nextFilter < lineFilters.length) {
        timeSlice.left = left;
        return 0;
      }
    }
    if (this.#hidden === undefined || this.#isNarrowed || left === 0) return left;
    this.#isNarrowed = true;
    return this.#hidden.narrow(selection, left);
  }

  /**
   * Narrows `selection[#filtered..count)` until the time slice ends. Returns the new count; `#filtered` rows
   * of it are done.
   */
  #filter(page: PageRows, selection: Uint32Array, count: number, filter: LineFilter): number {
    const timeSlice = this.#timeSlice;
    if (timeSlice === undefined || !isSlowFilter(filter)) {
      this.#filtered = selectKnownLines(page, selection, count, filter);
      return this.#filtered;
    }
    let passed = this.#filtered;
    let next = passed;
    do {
      const end = endOfLines(page, selection, next, count);
      const kept = selectLines(page, selection.subarray(next, end), end - next, filter);
      selection.copyWithin(passed, next, next + kept);
      passed += kept;
      next = end;
    } while (next < count && !timeSlice.isOver);
    selection.copyWithin(passed, next, count);
    this.#filtered = passed;
    return passed + count - next;
  }

  /** Returns whether the time slice is over. Call it after the row at each index of the selection. */
  isOver(index: number): boolean {
    const timeSlice = this.#timeSlice;
    if (timeSlice === undefined || (!this.#stages.isSlow && (index & FAST_ROWS_MASK) !== FAST_ROWS_MASK))
      return false;
    return timeSlice.isOver;
  }

  /**
   * Leaves the rows from `next` of the group that ends at `to`, and those of later groups, to the next time
   * slice.
   */
  leave(selection: Uint32Array, next: number, to: number, groupEnd: number, count: number): void {
    selection.copyWithin(0, next, to);
    selection.copyWithin(to - next, groupEnd, count);
    this.#timeSlice!.left = to - next + count - groupEnd;
  }

  /**
   * Returns the index in the selection after the rows of the same run as the row at `from`. Runs arrive in
   * order.
   */
  groupEnd(selection: Uint32Array, from: number, count: number): number {
    const { runs } = this.#page!;
    while (endOf(runs[this.#run]) <= selection[from]) this.#run++;
    const stop = endOf(runs[this.#run]);
    if (selection[count - 1] < stop) return count;
    return lowerBound(selection, from + 1, count - 1, stop);
  }

  /**
   * Enters the run of the rows `selection[from..to)` and narrows them in place by the filters on stored
   * labels. Returns the new end.
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
    if (left > from && this.#pushdown?.stage?.answersRun !== true)
      this.#stages.scanned?.enterRows(selection, from, left);
    return left;
  }

  /** Page of the current rows, with their lines. */
  get page(): PageRows {
    return this.#page!;
  }

  /** Run that was entered last. */
  get run(): Run {
    return this.#page!.runs[this.#run];
  }

  /** Whether the rows of the current run need no processing: their labels and lines are as stored. */
  get isPlain(): boolean {
    return this.#rowStages.length === 0 && !this.row.labels.hasErrorColumns;
  }

  /** Returns whether this stage is the only one for the rows of the current run. */
  runsOnly(stage: RowStage): boolean {
    const stages = this.#rowStages;
    return stages.length === 1 && stages[0] === stage && !this.row.labels.hasErrorColumns;
  }

  /** Returns whether these stages are the only ones for the rows of the current run. */
  runsStages(stages: readonly RowStage[]): boolean {
    return this.#rowStages === stages && !this.row.labels.hasErrorColumns;
  }

  /** Runs the row stages on a row of the current run. Returns false if one dropped it. */
  process(row: number): boolean {
    this.row.enter(row);
    const stages = this.#rowStages;
    const watch = this.#stages.isSlow ? this.#timeSlice : undefined;
    for (let i = 0; i < stages.length; i++) {
      if (!stages[i](this.row)) return false;
      watch?.checkRow();
    }
    return true;
  }
}

/**
 * Returns the index after the rows from `from` on that have up to SLOW_FILTER_BYTES of lines together; at
 * least one row.
 */
function endOfLines({ lineOffsets }: PageRows, selection: Uint32Array, from: number, count: number): number {
  let end = from;
  let bytes = 0;
  do {
    const row = selection[end++];
    bytes += lineOffsets[row + 1] - lineOffsets[row];
  } while (end < count && bytes < SLOW_FILTER_BYTES);
  return end;
}

function endOf(run: Run): number {
  return run.firstRow + run.rows;
}
