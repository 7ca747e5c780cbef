/**
 * Runs tasks in any thread or process: from bytes to bytes, with an object store and a clock. It caches data
 * of objects that never change (footers, rows that delete requests cover) for later tasks.
 */

import { CorruptionError } from '../../../base/model/errors.ts';
import { LruCache } from '../../../base/model/lru.ts';
import { MemoryBudget, type SharedMemory } from '../../../base/model/memory-budget.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import type { ObjectStore } from '../../../base/ports/object-store.ts';
import { tracing } from '../../../base/ports/read-trace.ts';
import type { LogExpr, RangeAggregationExpr } from '../../../language/logql/ast.ts';
import { parseQuery } from '../../../language/logql/parse.ts';
import { compileDeleteFilters, type TenantDeleteFilters } from '../../../upkeep/deletion/delete-filters.ts';
import { PageHitsCache } from '../../../upkeep/deletion/page-hits.ts';
import { type Retention, retentionOf } from '../../../upkeep/retention/retention.ts';
import { ChunkSource } from '../chunk-source.ts';
import type { DayPlan, PlannedPage } from '../day-plan.ts';
import type { EntryPosition } from '../entry-order.ts';
import { LogCollector } from '../log-collector.ts';
import { compileLogScan, MAX_ENTRY_BYTES, scanEntries } from '../log-scan.ts';
import { compileMetricScan, type MetricScan, type PagesOfPlan, scanSamples } from '../metric-scan.ts';
import { Overlaps } from '../overlaps.ts';
import type { ScanContext } from '../scan.ts';
import { newStatistics, PROCESS } from '../statistics.ts';
import { labeledView, plainView, type TenantView } from '../tenant-view.ts';
import { keptOfDay, type Visible } from '../visibility.ts';
import { encodeFailure, encodeTaskAnswer } from './answer-codec.ts';
import { ChunkPlanner } from './chunk-planner.ts';
import { MAX_CHUNKS } from './chunk-ranges.ts';
import { mergeChunks } from './merge-chunks.ts';
import type { QueryWorkers } from './query-workers.ts';
import type {
  LogTaskAnswer,
  LogTaskRequest,
  MetricTaskAnswer,
  MetricTaskRequest,
  PlannedByWorker,
  SplitTaskAnswer,
  Task,
  TaskAnswer,
  TaskPage,
} from './task.ts';
import { decodeTask } from './task-codec.ts';
import { costOfPage } from './task-cost.ts';
import { failureOf } from './task-failure.ts';

/** Maximum cached compiled delete requests, about 2 KB each. */
const MAX_CACHED_REQUESTS = 20_000;
const MAX_CACHED_RETENTIONS = 100;
/** Maximum reads of a task in its result, up to 30 bytes each. */
const MAX_SHOWN_READS = 300;
/**
 * Maximum state and series of one task, bytes. Half the limit of an aggregation: the result is half as large,
 * and is held together with the sum of all until it is added.
 */
export const MAX_TASK_STATE_BYTES = 128 * 1024 * 1024;

/** Maximum state of a merged result, with which the result fits into the response of a function. */
const MAX_MERGED_BYTES = 3_000_000;

export interface TaskRunnerParts {
  /** Used only for reads. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Name of this thread or function, for `explain`. Default: the process. */
  readonly ranIn?: string;
  /** Memory that states and entries of tasks are charged to. Default: each task has only its own limit. */
  readonly memory?: SharedMemory;
  /** Runs the parts of merging tasks. Default: their chunks are read here. */
  readonly workers?: QueryWorkers | undefined;
  /** Source shared with the queries of the thread. Default: a separate one without a page cache. */
  readonly source?: ChunkSource;
}

export class TaskRunner {
  readonly #workers: QueryWorkers | undefined;
  readonly #source: ChunkSource;
  readonly #clock: Clock;
  readonly #ranIn: string;
  readonly #memory: SharedMemory | undefined;
  readonly #planner: ChunkPlanner;
  readonly #hits = new PageHitsCache();
  readonly #deleteFilters = new LruCache<string, TenantDeleteFilters>(MAX_CACHED_REQUESTS);
  readonly #retentions = new LruCache<string, Retention>(MAX_CACHED_RETENTIONS);

  constructor(parts: TaskRunnerParts) {
    const { store, clock, ranIn = PROCESS, memory, workers, source = new ChunkSource(store) } = parts;
    this.#source = source;
    this.#planner = new ChunkPlanner(store, source);
    this.#workers = workers;
    this.#clock = clock;
    this.#ranIn = ranIn;
    this.#memory = memory;
  }

  /** Returns the result or the failure of the task as bytes. Rejects only with the signal's reason. */
  async run(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    try {
      const task = decodeTask(bytes);
      return encodeTaskAnswer(
        this.#source.isDistant ? await this.#traced(task, signal) : await this.#answer(task, signal),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return encodeFailure(failureOf(error));
    }
  }

  #traced(task: Task, signal: AbortSignal): Promise<TaskAnswer> {
    return tracing(this.#clock, async ({ reads }) => {
      const answer = await this.#answer(task, signal);
      return { ...answer, reads: reads.slice(0, MAX_SHOWN_READS) };
    });
  }

  async #answer(task: Task, signal: AbortSignal): Promise<TaskAnswer> {
    const statistics = newStatistics();
    const source = this.#source;
    const view = task.isLabeled ? labeledView(task.tenant) : plainView(task.tenant);
    const context = { source, statistics, signal, shown: view.shown };
    const budget =
      task.request.kind === 'metric'
        ? new MemoryBudget(MAX_TASK_STATE_BYTES, undefined, this.#memory)
        : new MemoryBudget(MAX_ENTRY_BYTES, 'lowering the limit', this.#memory);
    try {
      const answer =
        task.request.kind === 'metric'
          ? await this.#metric(task.request, { context, view, budget }, task)
          : await this.#log(task.request, { context, view, budget }, task);
      return { ...answer, ranIn: this.#ranIn, figures: statistics, reads: [] };
    } finally {
      budget.releaseAll();
    }
  }

  async #metric(
    { query, spec, grouping }: MetricTaskRequest,
    { context, view, budget }: Scanning,
    task: Task,
  ): Promise<MetricMade | SplitMade> {
    const node = parsedAggregation(query);
    const { range } = node;
    const scan = compileMetricScan(range, { spec, grouping, clock: this.#clock, memory: budget });
    if (this.#workers !== undefined && task.plannedByWorker !== undefined && task.plannedByWorker.parts > 1) {
      const { signal, statistics } = context;
      const shared = { workers: this.#workers, memory: budget, signal, statistics };
      await mergeChunks(task, { node, scan, view, visible: this.#visibleOf(task), ...shared });
      return mergedResult(scan, task.plannedByWorker);
    }
    const pages =
      task.plannedByWorker === undefined
        ? await this.#planned(task, context.statistics)
        : await this.#planner.counted(task, {
            ...context,
            range,
            scan,
            view,
            visible: this.#visibleOf(task),
          });
    if (pages === undefined) return tooManyChunks(task);
    const split = splitOf(task, pages, scan.extractor.needs.lines === 'bytes');
    if (split !== undefined) return split;
    await scanSamples(context, scan, pages);
    return resultOf(scan);
  }

  async #log(
    request: LogTaskRequest,
    { context, view, budget }: Scanning,
    task: Task,
  ): Promise<LogMade | SplitMade> {
    const { records } = task;
    const { query, limit, backward, categorize, field, bound } = request;
    const expr = parsedLogQuery(query);
    const pages =
      task.plannedByWorker === undefined
        ? await this.#planned(task, context.statistics)
        : await this.#planner.entries(task, {
            ...context,
            expr,
            backward,
            view,
            visible: this.#visibleOf(task),
          });
    const split = splitOf(task, pages, true);
    if (split !== undefined) return split;
    const collector = new LogCollector(limit, backward, categorize, budget);
    collector.startAt(bound);
    await scanEntries(context, compileLogScan(expr, { clock: this.#clock, field }), pages, collector);
    const indexOf = new Map<EntryPosition['chunk'], number>(records.map((record, i) => [record, i]));
    const entries = collector.finish().map(({ source, chunk, ...entry }) => {
      return { ...entry, hash: source.hash, record: indexOf.get(chunk)! };
    });
    return { kind: 'log', entries };
  }

  /** Returns the task's part of the plan that it was cut from. */
  async #planned(task: Task, statistics: ReturnType<typeof newStatistics>): Promise<PagesOfPlan> {
    const visible = this.#visibleOf(task);
    const { day, from, to, isUneven, records } = task;
    const kept = keptOfDay(visible, day);
    const footers = await Promise.all(records.map(record => this.#source.footer(record)));
    const chunkFilters = records.map(record => visible.deleteFilters?.forChunk(record));
    const plannedOf = (at: TaskPage): PlannedPage => {
      const record = records[at.record];
      const footer = footers[at.record];
      const deleteFilters = chunkFilters[at.record];
      const page = footer.pages[at.page];
      const runs = at.runs === undefined ? page?.runs : at.runs.map(run => page?.runs[run]);
      if (runs === undefined || runs.includes(undefined as never)) {
        throw new CorruptionError(`query task: chunk ${record.id} does not have page ${at.page}`);
      }
      let first = Infinity;
      let last = 0;
      for (const run of runs) {
        if (run.first < first) first = run.first;
        if (run.last > last) last = run.last;
      }
      const deleteFilter = deleteFilters?.forPage({ page, streams: footer.streams, runs });
      return { record, footer, page, deleteFilters, deleteFilter, runs, first, last };
    };
    const pages = task.pages.map(plannedOf);
    const neighbors = new Set(task.neighbors.map(plannedOf));
    const plan: DayPlan = { day, from, to, pages: [...pages, ...neighbors], kept, isUneven };
    // The task that scans a neighbor page counts the rows dropped from it.
    const counts = (page: PlannedPage) => !neighbors.has(page);
    return { plan, pages, overlaps: new Overlaps(plan, this.#source, statistics, counts) };
  }

  #visibleOf({ tenant, deletes, retention, nowNs }: Task): Visible {
    return {
      deleteFilters: deletes.length === 0 ? undefined : this.#deleteFiltersOf(tenant, deletes),
      retention: this.#retentionOf(retention),
      nowNs,
    };
  }

  #deleteFiltersOf(tenant: string, deletes: Task['deletes']): TenantDeleteFilters {
    const stateOf = ({
      id,
      createdMs,
      startNs,
      endNs,
      pickedUpMs,
      sealedMs,
      processedMs,
    }: Task['deletes'][0]) =>
      `${id} ${createdMs} ${startNs} ${endNs} ${pickedUpMs} ${sealedMs} ${processedMs}`;
    const key = [tenant, ...deletes.map(stateOf)].join('\n');
    let deleteFilters = this.#deleteFilters.get(key);
    if (deleteFilters === undefined) {
      deleteFilters = compileDeleteFilters(deletes, { clock: this.#clock, hits: this.#hits });
      this.#deleteFilters.set(key, deleteFilters, deletes.length + 1);
    }
    return deleteFilters;
  }

  #retentionOf(limits: Task['retention']): Retention {
    const rules = limits.retentionStream.map(rule => [rule.selector, rule.priority, `${rule.periodNs}`]);
    const key = JSON.stringify([`${limits.retentionPeriodNs}`, rules]);
    let retention = this.#retentions.get(key);
    if (retention === undefined) {
      retention = retentionOf(limits, true);
      this.#retentions.set(key, retention);
    }
    return retention;
  }
}

interface Scanning {
  readonly context: Omit<ScanContext, 'timeSlice' | 'hidden'>;
  readonly view: TenantView;
  readonly budget: MemoryBudget;
}

type MetricMade = Omit<MetricTaskAnswer, 'ranIn' | 'figures' | 'reads'>;
type LogMade = Omit<LogTaskAnswer, 'ranIn' | 'figures' | 'reads'>;
type SplitMade = Omit<SplitTaskAnswer, 'ranIn' | 'figures' | 'reads'>;

function resultOf({ extractor: { series }, accumulator }: MetricScan): MetricMade {
  const labels = Array.from({ length: series.count }, (_, number) => series.labelsOf(number));
  return { kind: 'metric', series: labels, state: accumulator.encode() };
}

/** Returns the result of a merging task. If it is too large, the query function merges its parts. */
function mergedResult(scan: MetricScan, { parts, maxBytes }: PlannedByWorker): MetricMade | SplitMade {
  const result = resultOf(scan);
  return result.state.length > MAX_MERGED_BYTES ? { kind: 'split', bytes: parts * maxBytes } : result;
}

/** Returns the result of a task of more chunks than may be read from their footers: parts of half as many as may. */
function tooManyChunks({ plannedByWorker }: Task): SplitMade {
  const { own = 0, maxBytes = 0 } = plannedByWorker ?? {};
  return { kind: 'split', bytes: Math.ceil((2 * own) / MAX_CHUNKS) * maxBytes };
}

/** Returns the result of a task of several chunks that leave more to scan than one task may. */
function splitOf(
  { plannedByWorker }: Task,
  { pages }: PagesOfPlan,
  readsLines: boolean,
): SplitMade | undefined {
  if (plannedByWorker === undefined || plannedByWorker.own === 1) return undefined;
  const bytes = pages.reduce((sum, page) => sum + costOfPage(page, readsLines), 0);
  return bytes > plannedByWorker.maxBytes ? { kind: 'split', bytes } : undefined;
}

function parsedAggregation(query: string): RangeAggregationExpr {
  const expr = parseQuery(query);
  if (expr.kind !== 'rangeAggregation')
    throw new CorruptionError(`query task: unexpected ${expr.kind} query`);
  return expr;
}

function parsedLogQuery(query: string): LogExpr {
  const expr = parseQuery(query);
  if (expr.kind !== 'log') throw new CorruptionError(`query task: unexpected ${expr.kind} query`);
  return expr;
}
