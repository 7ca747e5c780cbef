/**
 * Plans the chunks of a task, as the engine plans a day: from the day index, text indexes and footers. The query
 * function has only looked at their catalog records.
 */
import { NS_PER_DAY } from '../../../base/model/time-units.ts';
import type { ObjectStore } from '../../../base/ports/object-store.ts';
import type { LogExpr, LogRange } from '../../../language/logql/ast.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import { DayIndexes } from '../../../storage/index/day-indexes.ts';
import type { IndexOfDay } from '../../../storage/index/joined-index.ts';
import type { ChunkSource } from '../chunk-source.ts';
import { countedPlan } from '../counted-plan.ts';
import type { DayPlan, PlannedPage } from '../day-plan.ts';
import { countFromIndex, countsFromIndex } from '../index-counts.ts';
import { surveyChunks } from '../index-survey.ts';
import { inDirection } from '../log-scan.ts';
import type { MetricScan, PagesOfPlan } from '../metric-scan.ts';
import { Overlaps } from '../overlaps.ts';
import { planPruned } from '../pruned-plan.ts';
import { compileSelector, type StreamSelector } from '../selector.ts';
import type { QueryStatistics } from '../statistics.ts';
import type { TenantView } from '../tenant-view.ts';
import { compileTextPruner } from '../text-prune.ts';
import { keptOfDay, type Visible } from '../visibility.ts';
import { MAX_CHUNKS } from './chunk-ranges.ts';
import type { Task } from './task.ts';

interface Planning {
  readonly view: TenantView;
  readonly visible: Visible;
  readonly statistics: QueryStatistics;
  readonly signal: AbortSignal;
}

interface CountedPlanning extends Planning {
  readonly range: LogRange;
  readonly scan: MetricScan;
}

interface EntryPlanning extends Planning {
  readonly expr: LogExpr;
  readonly backward: boolean;
}

/** Chunks of a task. */
interface TaskChunks {
  readonly own: readonly ChunkRecord[];
  /** Chunks of other tasks that may have the same entries. */
  readonly neighbors: readonly ChunkRecord[];
}

interface SurveyedTask extends ReturnType<typeof surveyChunks> {
  /** Undefined if the task names none, or it is broken. */
  readonly index: IndexOfDay | undefined;
}

export class ChunkPlanner {
  readonly #store: ObjectStore;
  readonly #source: ChunkSource;
  /** Created on first use: most tasks have their pages. */
  #indexes: DayIndexes | undefined;

  constructor(store: ObjectStore, source: ChunkSource) {
    this.#store = store;
    this.#source = source;
  }

  /**
   * Returns the pages that a metric query reads, after index and footers have counted what they can. Undefined if more
   * footers are left than a task should hold.
   */
  async counted(task: Task, { range, scan, ...planning }: CountedPlanning): Promise<PagesOfPlan | undefined> {
    const { statistics, view } = planning;
    const selector = compileSelector(view.storedMatchers(range.log.selector));
    const chunks = await this.#countedByIndex(task, selector, { scan, ...planning });
    if (chunks.own.length > MAX_CHUNKS) return undefined;
    const { plan, isOwn } = await this.#planned(task, chunks, { ...planning, selector, expr: range.log });
    return countedPlan(scan, { plan, source: this.#source, statistics, view, isOwn });
  }

  /** Returns the pages of a log query, in its direction. */
  async entries(task: Task, { expr, backward, ...planning }: EntryPlanning): Promise<PagesOfPlan> {
    const selector = compileSelector(planning.view.storedMatchers(expr.selector));
    const { alone, shared, neighbors } = await this.#surveyed(task, selector);
    const chunks = { own: [...alone, ...shared], neighbors };
    const { plan, isOwn } = await this.#planned(task, chunks, { ...planning, selector, expr });
    const pages = inDirection(plan.pages.filter(isOwn), backward);
    return { plan, pages, overlaps: new Overlaps(plan, this.#source, planning.statistics, isOwn) };
  }

  /** Counts what the index of the day can. Returns the other chunks. */
  async #countedByIndex(
    task: Task,
    selector: StreamSelector,
    { scan, view, visible }: Pick<CountedPlanning, 'scan' | 'view' | 'visible'>,
  ): Promise<TaskChunks> {
    const { index, alone, shared, neighbors } = await this.#surveyed(task, selector);
    const { day, from, to } = task;
    if (index === undefined || !countsFromIndex(scan) || keptOfDay(visible, day) !== undefined) {
      return { own: [...alone, ...shared], neighbors };
    }
    const { extractor, accumulator, timeSlice } = scan;
    const sinks = { extractor, accumulator, timeSlice, shown: view.shown };
    const isShown = (record: ChunkRecord) => visible.deleteFilters?.forChunk(record) === undefined;
    const uncounted = await countFromIndex(index, alone.filter(isShown), {
      ...sinks,
      day,
      from,
      to,
      selector,
    });
    return { own: [...uncounted, ...alone.filter(record => !isShown(record)), ...shared], neighbors };
  }

  /** Divides the chunks of a task by the index of the day. Without an index, all count as sharing time with others. */
  async #surveyed(task: Task, selector: StreamSelector): Promise<SurveyedTask> {
    const { tenant, day, from, to, records, indexes, plannedByWorker } = task;
    const own = records.slice(0, plannedByWorker?.own);
    const neighbors = records.slice(own.length);
    const without = { index: undefined, alone: [], shared: own, neighbors };
    if (indexes.length === 0) return without;
    // Index sync reports broken indexes.
    this.#indexes ??= new DayIndexes({ store: this.#store, onBroken: () => undefined });
    const index = await this.#indexes.indexOfDay(tenant, { day, indexes });
    if (index === undefined) return without;
    return { index, ...surveyChunks(index, { own, neighbors, selector, from, to }) };
  }

  async #planned(
    { day, from, to }: Task,
    { own, neighbors }: TaskChunks,
    {
      selector,
      expr,
      visible,
      statistics,
      signal,
    }: Planning & { readonly selector: StreamSelector; readonly expr: LogExpr },
  ): Promise<{ readonly plan: DayPlan; readonly isOwn: (page: PlannedPage) => boolean }> {
    const source = this.#source;
    const start = BigInt(day) * NS_PER_DAY;
    const range = { startNs: start + BigInt(from), endNs: start + BigInt(to) };
    const pruner = compileTextPruner(expr.stages, source, statistics);
    const toPlan = { source, selector, range, visible, pruner, statistics, signal };
    const { plan } = await planPruned(toPlan, { day, records: [...own, ...neighbors] });
    const ofTask = new Set(own);
    return { plan, isOwn: ({ record }) => ofTask.has(record) };
  }
}
