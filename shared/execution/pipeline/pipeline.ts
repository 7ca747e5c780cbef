/**
 * Log queries on a page: the rows that pass all stages, handed one after the other to a sink.
 *
 *     const pipeline = compileLogPipeline(expr, { clock });
 *     pipeline.run(page, selection, count, sink);   // sink.emit(row, entry) for each row that is left
 *
 * The entry handed to `emit` is one object, overwritten by the next row. Its labels are shared by rows with equal
 * labels where no stage works row by row.
 */

import { formatLabels, type Labels } from '../../base/model/labels.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { PromotedWants } from '../../base/model/page-fields.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { compileStages } from './compile.ts';
import { categoriesOf, type LabelCategories, mergedLabels } from './label-map.ts';
import { type PreparedRows, planPushdownRows } from './pushdown/pushdown-rows.ts';
import { Row } from './row.ts';
import { RowKeys } from './row-keys.ts';
import type { RowLabels } from './row-labels.ts';
import { type RowNarrower, StageRunner } from './stage-runner.ts';
import type { TimeSlice } from './time-slice.ts';

export type { LabelCategories } from './label-map.ts';

export interface LogSink {
  /** Cheap test before any work on the row (its line has passed the leading filters). */
  wants(row: number): boolean;
  emit(row: number, entry: PipelineRow): void;
}

/** A row that passed all stages. Valid during `emit` only. */
export interface PipelineRow {
  /** Text of the line after all stages. */
  line(): string;
  /** False where the line is that of the page, so that its bytes can be copied. */
  readonly lineChanged: boolean;
  /** Bytes of the line after all stages: `lineBuffer` from `lineStart` to `lineEnd`. */
  readonly lineBuffer: Buffer;
  readonly lineStart: number;
  readonly lineEnd: number;
  /** All labels, sorted. */
  labels(): Labels;
  /** Canonical text of `labels()`. */
  labelText(): string;
  /** The labels by category; `stream` is what a result stream is keyed by with categorised labels. */
  categories(): LabelCategories;
  /** Canonical text of `categories().stream`. */
  streamText(): string;
}

export interface LogPipeline {
  /** Columns of fields that tell which rows a filter drops. A page without them is answered the same. */
  readonly promoted: PromotedWants | undefined;
  /** What is left of the rows before lines are looked at; all that is left needs its line. May be left out. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows;
  /**
   * Runs the rows `selection[0..count)` (ascending) of a page; the selection is overwritten. Returns how many rows
   * were emitted. With a turn, `turn.left` rows are left at the start of the selection, to be run next.
   */
  run(page: PageRows, selection: Uint32Array, count: number, sink: LogSink): number;
}

/** Throws BadRequestError where a stage cannot be built. */
export function compileLogPipeline(
  expr: LogExpr,
  {
    clock,
    turn,
    hidden,
  }: { readonly clock: Clock; readonly turn?: TimeSlice; readonly hidden?: RowNarrower },
): LogPipeline {
  const row = new Row();
  const promoted = planPushdownRows(expr.stages, {});
  const compiled = compileStages(expr.stages, row, { clock, promoted });
  const runner = new StageRunner(row, compiled, { turn, hidden, promoted });
  const entry = new CurrentEntry(row);

  function run(page: PageRows, selection: Uint32Array, count: number, sink: LogSink): number {
    let emitted = 0;
    const left = runner.begin(page, selection, count);
    for (let from = 0; from < left; ) {
      const groupEnd = runner.groupEnd(selection, from, left);
      const to = runner.enterGroup(selection, from, groupEnd);
      entry.isPlain = runner.isPlain;
      for (let i = from; i < to; i++) {
        const number = selection[i];
        if (sink.wants(number) && runner.process(number)) {
          entry.reset();
          sink.emit(number, entry);
          emitted++;
        }
        if (runner.isOver(i)) {
          runner.leave(selection, i + 1, to, groupEnd, left);
          return emitted;
        }
      }
      from = groupEnd;
    }
    return emitted;
  }
  return {
    run,
    promoted: promoted?.wants,
    prepare(page, selection, count) {
      const left = promoted?.prepare(page, selection, count).count ?? count;
      return { count: left, needsLines: left > 0 };
    },
  };
}

/** Labels of a row, built when asked for. */
class LabelSet {
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

/** Label sets kept for rows without row stages; more distinct ones start anew. */
const MAX_KEPT_SETS = 16_384;
const NOTHING: ReadonlySet<number> = new Set();

/** Label sets of the rows of one run, by where their metadata values are in the dictionaries of the page: cheaper than their keys. */
class RunSets {
  readonly #labels: RowLabels;
  #runSerial = -1;
  #ids: readonly Uint32Array[] = [];
  #factors: readonly number[] = [];
  #sets = new Map<number, LabelSet>();

  constructor(labels: RowLabels) {
    this.#labels = labels;
  }

  /** Number of the row's set within the run; -1 if there are too many combinations for one. */
  place(): number {
    const { runSerial, row } = this.#labels;
    if (runSerial !== this.#runSerial) this.#enter(runSerial);
    const ids = this.#ids;
    const factors = this.#factors;
    let place = 0;
    for (let i = 0; i < ids.length; i++) place += ids[i][row] * factors[i];
    return factors.length < ids.length ? -1 : place;
  }

  get(place: number): LabelSet | undefined {
    return this.#sets.get(place);
  }

  keep(place: number, set: LabelSet): void {
    if (place >= 0) this.#sets.set(place, set);
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
  #sets = new Map<number, LabelSet>();
  #set: LabelSet | undefined;
  /** No stage works on the rows of this run: equal keys have equal labels. */
  isPlain = false;

  constructor(row: Row) {
    this.#row = row;
    this.#keys = new RowKeys(row.labels);
    this.#runSets = new RunSets(row.labels);
  }

  reset(): void {
    this.#set = undefined;
  }

  #labelSet(): LabelSet {
    if (this.#set !== undefined) return this.#set;
    const { labels } = this.#row;
    if (!this.isPlain) {
      this.#set = new LabelSet(categoriesOf(labels));
      return this.#set;
    }
    const place = this.#runSets.place();
    const known = this.#runSets.get(place);
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
      set = new LabelSet(categoriesOf(labels));
      this.#sets.set(key, set);
    }
    this.#runSets.keep(place, set);
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
    return this.#labelSet().labels;
  }

  labelText(): string {
    return this.#labelSet().text;
  }

  categories(): LabelCategories {
    return this.#labelSet().categories;
  }

  streamText(): string {
    return this.#labelSet().streamText;
  }
}
