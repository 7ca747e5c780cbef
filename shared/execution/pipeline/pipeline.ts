/**
 * Log queries on a page: passes the rows that remain after all stages to a sink, one by one.
 *
 *     const pipeline = compileLogPipeline(expr, { clock });
 *     pipeline.run(page, selection, count, sink);   // sink.emit(row, entry) for each remaining row
 *
 * The entry passed to `emit` is one object, overwritten by the next row. If no stage runs row by row, rows
 * with equal labels share its labels.
 */

import { formatLabels, type Labels } from '../../base/model/labels.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { FieldColumnWants } from '../../base/model/page-fields.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { CaptureFilters } from './capture-filters.ts';
import { compileStages } from './compile.ts';
import { categoriesOf, type LabelCategories, mergedLabels } from './label-map.ts';
import { MergedLabels } from './merged-labels.ts';
import { type PreparedRows, planPushdownRows } from './pushdown/pushdown-rows.ts';
import { Row } from './row.ts';
import { RowKeys } from './row-keys.ts';
import type { RowLabels } from './row-labels.ts';
import { type RowNarrower, StageRunner } from './stage-runner.ts';
import type { TimeSlice } from './time-slice.ts';

export type { LabelCategories } from './label-map.ts';

export interface LogSink {
  /** Cheap test before any work on the row. Its line has passed the leading filters. */
  wants(row: number): boolean;
  emit(row: number, entry: PipelineRow): void;
}

/** Row that passed all stages. Valid only during `emit`. */
export interface PipelineRow {
  /** Returns the text of the line after all stages. */
  line(): string;
  /** False if the line is that of the page, so that its bytes can be copied. */
  readonly lineChanged: boolean;
  /** Bytes of the line after all stages: `lineBuffer` from `lineStart` to `lineEnd`. */
  readonly lineBuffer: Buffer;
  readonly lineStart: number;
  readonly lineEnd: number;
  /** Returns all labels, sorted. */
  labels(): Labels;
  /** Returns the canonical text of `labels()`. */
  labelText(): string;
  /** Returns the labels by category; `stream` is the key of a result stream with categorized labels. */
  categories(): LabelCategories;
  /** Returns the canonical text of `categories().stream`. */
  streamText(): string;
}

export interface LogPipeline {
  /** Field columns that show which rows a filter drops. A page without them yields the same result. */
  readonly fieldColumns: FieldColumnWants | undefined;
  /** Reduces the rows before lines are read; each remaining row needs its line. Optional. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows;
  /**
   * Runs the rows `selection[0..count)` (ascending) of a page, and overwrites the selection. Returns the
   * number of emitted rows. With a time slice, `timeSlice.left` rows remain at the start of the selection for the
   * next call.
   */
  run(page: PageRows, selection: Uint32Array, count: number, sink: LogSink): number;
}

/** Throws BadRequestError for an invalid stage. */
export function compileLogPipeline(
  expr: LogExpr,
  {
    clock,
    timeSlice,
    hidden,
  }: { readonly clock: Clock; readonly timeSlice?: TimeSlice; readonly hidden?: RowNarrower },
): LogPipeline {
  const row = new Row();
  const pushdown = planPushdownRows(expr.stages, {});
  const compiled = compileStages(expr.stages, row, { clock, pushdown });
  const runner = new StageRunner(row, compiled, { timeSlice, hidden, pushdown });
  const entry = new CurrentEntry(row);
  const captureFilters = CaptureFilters.of(expr.stages, []);

  function run(page: PageRows, selection: Uint32Array, count: number, sink: LogSink): number {
    let emitted = 0;
    let processed = 0;
    const left = runner.begin(page, selection, count);
    for (let from = 0; from < left; ) {
      const groupEnd = runner.groupEnd(selection, from, left);
      const to = runner.enterGroup(selection, from, groupEnd);
      entry.isPlain = runner.isPlain;
      for (let i = from; i < to; i++) {
        const number = selection[i];
        if (sink.wants(number)) {
          processed++;
          if (runner.process(number)) {
            entry.reset();
            sink.emit(number, entry);
            emitted++;
          }
        }
        if (runner.isOver(i)) {
          runner.leave(selection, i + 1, to, groupEnd, left);
          captureFilters?.note(processed, emitted);
          return emitted;
        }
      }
      from = groupEnd;
    }
    captureFilters?.note(processed, emitted);
    return emitted;
  }
  return {
    run,
    fieldColumns: pushdown?.wants,
    prepare(page, selection, count) {
      let left = pushdown?.prepare(page, selection, count).count ?? count;
      if (left > 0) left = captureFilters?.narrow(page, selection, left) ?? left;
      return { count: left, needsLines: left > 0 };
    },
  };
}

/** Labels of a row, built on demand. */
class LazyLabels {
  readonly categories: LabelCategories;
  #labels: Labels | undefined;
  #text: string | undefined;
  #streamText: string | undefined;

  constructor(categories: LabelCategories) {
    this.categories = categories;
  }

  get labels(): Labels {
    return (this.#labels ??= mergedLabels(this.categories));
  }

  get text(): string {
    return (this.#text ??= formatLabels(this.labels));
  }

  get streamText(): string {
    return (this.#streamText ??= formatLabels(this.categories.stream));
  }
}

/** Maximum cached label sets for rows without row stages. With more, the cache starts over. */
const MAX_KEPT_SETS = 16_384;
const NOTHING: ReadonlySet<number> = new Set();

/**
 * Label sets of the rows of one run, by the dictionary indexes of their metadata values. That is cheaper than
 * row keys.
 */
class RunSets {
  readonly #labels: RowLabels;
  #runSerial = -1;
  #ids: readonly Uint32Array[] = [];
  #factors: readonly number[] = [];
  #sets = new Map<number, LazyLabels>();

  constructor(labels: RowLabels) {
    this.#labels = labels;
  }

  /** Number of the row's set within the run; -1 if there are too many combinations for one. */
  number(): number {
    const { runSerial, row } = this.#labels;
    if (runSerial !== this.#runSerial) this.#enter(runSerial);
    const ids = this.#ids;
    const factors = this.#factors;
    let number = 0;
    for (let i = 0; i < ids.length; i++) number += ids[i][row] * factors[i];
    return factors.length < ids.length ? -1 : number;
  }

  get(number: number): LazyLabels | undefined {
    return this.#sets.get(number);
  }

  keep(number: number, set: LazyLabels): void {
    if (number >= 0) this.#sets.set(number, set);
  }

  #enter(runSerial: number): void {
    this.#runSerial = runSerial;
    this.#sets = new Map();
    const { columns } = this.#labels;
    this.#ids = columns.map(({ ids }) => ids);
    const factors: number[] = [];
    let combinations = 1;
    for (const { count } of columns) {
      factors.push(combinations);
      combinations *= count + 1;
    }
    this.#factors = combinations <= Number.MAX_SAFE_INTEGER ? factors : [];
  }
}

class CurrentEntry implements PipelineRow {
  readonly #row: Row;
  readonly #keys: RowKeys;
  readonly #runSets: RunSets;
  #keysEpoch = 0;
  #sets = new Map<number, LazyLabels>();
  readonly #merged: MergedLabels;
  #set: LazyLabels | undefined;
  /** All labels of a row on which stages work. */
  #all: Labels | undefined;
  /** Whether no stage works on the rows of this run: equal keys then have equal labels. */
  isPlain = false;

  constructor(row: Row) {
    this.#row = row;
    this.#keys = new RowKeys(row.labels);
    this.#runSets = new RunSets(row.labels);
    this.#merged = new MergedLabels(row.labels);
  }

  reset(): void {
    this.#set = undefined;
    this.#all = undefined;
  }

  #labelSet(): LazyLabels {
    if (this.#set !== undefined) return this.#set;
    const { labels } = this.#row;
    if (!this.isPlain) {
      this.#set = new LazyLabels(categoriesOf(labels));
      return this.#set;
    }
    const number = this.#runSets.number();
    const known = this.#runSets.get(number);
    if (known !== undefined) {
      this.#set = known;
      return known;
    }
    const key = this.#keys.ofAllBut(NOTHING);
    if (this.#keysEpoch !== this.#keys.epoch || this.#sets.size >= MAX_KEPT_SETS) {
      this.#keysEpoch = this.#keys.epoch;
      this.#sets = new Map();
    }
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = new LazyLabels(categoriesOf(labels));
      this.#sets.set(key, set);
    }
    this.#runSets.keep(number, set);
    this.#set = set;
    return set;
  }

  line(): string {
    return this.#row.line();
  }

  get lineChanged(): boolean {
    return this.#row.changed;
  }

  get lineBuffer(): Buffer {
    return this.#row.source;
  }

  get lineStart(): number {
    return this.#row.start;
  }

  get lineEnd(): number {
    return this.#row.end;
  }

  labels(): Labels {
    if (!this.isPlain) return (this.#all ??= this.#merged.ofRow());
    return this.#labelSet().labels;
  }

  labelText(): string {
    if (!this.isPlain) return this.#merged.textOf(this.labels());
    return this.#labelSet().text;
  }

  categories(): LabelCategories {
    return this.#labelSet().categories;
  }

  streamText(): string {
    return this.#labelSet().streamText;
  }
}
