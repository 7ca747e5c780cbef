/**
 * Compiled stages on a page: filters that work on the whole page first, then run by run (rows of one stream), then row
 * by row. The log pipeline and the sample extractor are this plus what they make of a row that is left.
 */
import { lowerRow } from '../../base/model/binary-search.ts';
import type { PageRows, Run, Stream } from '../../base/model/page.ts';
import type { CompiledStages } from './compile.ts';
import type { LineFilter } from './line-filter.ts';
import { isSlowFilter, selectLines } from './page-filters.ts';
import type { PromotedRows } from './pushdown/pushdown-rows.ts';
import type { Row, RowStage } from './row.ts';
import type { TimeSlice } from './time-slice.ts';

/** Rows between two looks at the time, less one, where no stage can be slow. A power of two, less one. */
const FAST_ROWS_MASK = 63;
/** The same in a line filter that is slow: bytes of lines, which take up to 0.1 s. A longer line is one step. */
const SLOW_FILTER_BYTES = 1024;

/** Takes rows of the page at hand out of `selection[0..count)`, ascending; how many stay. */
export interface RowNarrower {
  narrow(selection: Uint32Array, count: number): number;
}

export interface RunnerOptions {
  readonly turn?: TimeSlice | undefined;
  /** Asked once for a page, for the rows that its line filters left. */
  readonly hidden?: RowNarrower | undefined;
  /** The same that the stages were compiled with. */
  readonly promoted?: PromotedRows | undefined;
}

export class StageRunner {
  readonly row: Row;
  readonly #stages: CompiledStages;
  #rowStages: readonly RowStage[];
  #page: PageRows | undefined;
  #run = 0;
  readonly #turn: TimeSlice | undefined;
  /** First line filter that the rows of the page have not been through. */
  #nextFilter = 0;
  /** Rows at the start of the selection that have been through it all the same. */
  #filtered = 0;
  /** The rows of the page have been through `#hidden`. */
  #isNarrowed = false;
  readonly #hidden: RowNarrower | undefined;
  readonly #promoted: PromotedRows | undefined;

  constructor(row: Row, stages: CompiledStages, { turn, hidden, promoted }: RunnerOptions = {}) {
    this.#promoted = promoted;
    this.row = row;
    this.#stages = stages;
    this.#turn = turn;
    this.#hidden = hidden;
    this.#rowStages = stages.rowStages;
    row.labels.names.pin();
  }

  /**
   * Starts a page, or goes on with the rows that the last turn left. Narrows `selection[0..count)` in place by the
   * line filters; the new count, 0 where the turn is over before they are through.
   */
  begin(page: PageRows, selection: Uint32Array, count: number): number {
    const turn = this.#turn;
    const { lineFilters } = this.#stages;
    this.#page = page;
    this.#run = 0;
    this.row.enterPage(page);
    this.#promoted?.enterPage(page);
    if (turn === undefined || turn.left === 0) {
      this.#nextFilter = 0;
      this.#filtered = 0;
      this.#isNarrowed = false;
      this.#stages.scanned?.enterPage(page);
    } else turn.left = 0;
    let left = count;
    while (this.#nextFilter < lineFilters.length && left > 0) {
      left = this.#filter(page, selection, left, lineFilters[this.#nextFilter]);
      if (this.#filtered === left) {
        this.#nextFilter++;
        this.#filtered = 0;
      }
      if (turn?.isOver && this.#nextFilter < lineFilters.length) {
        turn.left = left;
        return 0;
      }
    }
    if (this.#hidden === undefined || this.#isNarrowed || left === 0) return left;
    this.#isNarrowed = true;
    return this.#hidden.narrow(selection, left);
  }

  /** Narrows `selection[#filtered..count)` until the turn is over; the new count, of which `#filtered` have been through. */
  #filter(page: PageRows, selection: Uint32Array, count: number, filter: LineFilter): number {
    const turn = this.#turn;
    if (turn === undefined || !isSlowFilter(filter)) {
      this.#filtered = selectLines(page, selection, count, filter);
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
    } while (next < count && !turn.isOver);
    selection.copyWithin(passed, next, count);
    this.#filtered = passed;
    return passed + count - next;
  }

  /** True where the turn is over; asked after the row at each place of the selection. */
  isOver(place: number): boolean {
    const turn = this.#turn;
    if (turn === undefined || (!this.#stages.isSlow && (place & FAST_ROWS_MASK) !== FAST_ROWS_MASK))
      return false;
    return turn.isOver;
  }

  /** Leaves the rows from `next` of the group that ends at `to`, and those of the groups behind, to the next turn. */
  leave(selection: Uint32Array, next: number, to: number, groupEnd: number, count: number): void {
    selection.copyWithin(0, next, to);
    selection.copyWithin(to - next, groupEnd, count);
    this.#turn!.left = to - next + count - groupEnd;
  }

  /** Place in the selection after the rows that share a run with the row at `from`. Runs are met in order. */
  groupEnd(selection: Uint32Array, from: number, count: number): number {
    const { runs } = this.#page!;
    while (endOf(runs[this.#run]) <= selection[from]) this.#run++;
    const stop = endOf(runs[this.#run]);
    if (selection[count - 1] < stop) return count;
    return lowerRow(selection, from + 1, count - 1, stop);
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
    if (left > from && this.#promoted?.stage?.answersRun !== true)
      this.#stages.scanned?.enterRows(selection, from, left);
    return left;
  }

  /** The run that was entered last. */
  get run(): Run {
    return this.#page!.runs[this.#run];
  }

  /** True where the rows of the current run need no work of their own: their labels and lines are as stored. */
  get isPlain(): boolean {
    return this.#rowStages.length === 0 && !this.row.labels.hasErrorColumns;
  }

  /** True where one stage is all that the rows of the current run go through. */
  runsOnly(stage: RowStage): boolean {
    const stages = this.#rowStages;
    return stages.length === 1 && stages[0] === stage && !this.row.labels.hasErrorColumns;
  }

  /** True where these stages are all that the rows of the current run go through. */
  runsStages(stages: readonly RowStage[]): boolean {
    return this.#rowStages === stages && !this.row.labels.hasErrorColumns;
  }

  /** Runs the row stages on a row of the current run. False where one dropped it. */
  process(row: number): boolean {
    this.row.enter(row);
    const stages = this.#rowStages;
    const watch = this.#stages.isSlow ? this.#turn : undefined;
    for (let i = 0; i < stages.length; i++) {
      if (!stages[i](this.row)) return false;
      watch?.checkRow();
    }
    return true;
  }
}

/** Place after the rows from `from` on, one at least, that have up to SLOW_FILTER_BYTES of lines together. */
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
