/**
 * Runs queries of the API: checks them against the tenant's limits, executes them, and returns their
 * statistics.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { tracing } from '../../base/ports/read-trace.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../base/scheduling/concurrency-limit.ts';
import type { MetricResult } from '../../execution/metrics/result.ts';
import type { Expr, LogExpr, Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { checkBlocked } from './blocked.ts';
import { formatByteQuantity } from './byte-quantity.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { TimeRange } from './day-plan.ts';
import { type ExportedRows, runExport } from './export-query.ts';
import { type LogStream, runLogQuery } from './log-query.ts';
import { runMetricQuery } from './metric-query.ts';
import { PartialAnswer } from './partial-answer.ts';
import { checkExpr, checkParallelism, limitEntries, limitHalfOpenRange, limitRange } from './query-limits.ts';
import { QueryMemory } from './query-memory.ts';
import { type PartRounds, partRounds, type ReadRound, readRounds } from './read-rounds.ts';
import { SkippedChunks } from './skipped-chunks.ts';
import { newStatistics, PROCESS, type QueryStatistics } from './statistics.ts';
import { type DayIndexProvider, findStreams, type StreamsRequest, visitStreams } from './streams-query.ts';
import type { AnswerCache } from './tasks/answer-cache.ts';
import type { QueryWorkers } from './tasks/query-workers.ts';
import { ALL_VISIBLE, type Visibility, type VisibleOf } from './visibility.ts';

/** Part of the catalog that queries use. */
export type QueryCatalog = Pick<Catalog, 'daysForQuery'>;

/** Tenants, limits and options of a request. */
export interface Requester {
  readonly tenants: readonly string[];
  /** Names the tenants together in fair scheduling. */
  readonly tenantsKey: string;
  /** Limits of all tenants together, see combineLimits. */
  readonly limits: Limits;
  readonly signal: AbortSignal;
  /**
   * Unix ms at which the signal aborts. With `warnings`, a query reads until shortly before, and returns what it
   * has.
   */
  readonly deadlineMs?: number | undefined;
  /**
   * Collects a warning for each limit that cuts the response, if the client displays partial results (http/dashboard-client.ts).
   * Undefined: a limit refuses the request.
   */
  readonly warnings?: string[] | undefined;
  /** Value of the header X-Query-Tags. */
  readonly tags: string;
  /**
   * Whether to skip cached results: requested with `Cache-Control: no-cache`, or to explain what a query
   * reads.
   */
  readonly skipsCache?: boolean;
  /** Whether the response shows its reads by round. */
  readonly wantsRounds?: boolean;
}

export interface RangeQuery extends TimeRange {
  /** Query text as the client sent it. */
  readonly text: string;
  readonly expr: Expr;
  readonly limit: number;
  readonly backward: boolean;
  readonly stepNs: bigint;
  readonly intervalNs: bigint;
  readonly categorize: boolean;
  /** Field of a log query with categorized labels, see LogRequest. */
  readonly field?: string | undefined;
}

/** Entries from `startNs` on. */
interface ExportQuery extends TimeRange {
  /** Query text as the client sent it. */
  readonly text: string;
  readonly expr: LogExpr;
  readonly maxBytes: number;
  /** Whether label sets are needed. False for files that contain only lines. */
  readonly hasLabels: boolean;
}

export interface InstantQuery {
  /** Query text as the client sent it. */
  readonly text: string;
  readonly expr: Expr;
  readonly timeNs: bigint;
}

export type QueryResult = { readonly kind: 'streams'; readonly streams: readonly LogStream[] } | MetricResult;

export interface QueryAnswer {
  readonly result: QueryResult;
  readonly statistics: QueryStatistics;
  readonly execNs: number;
  /** See EngineParts. */
  readonly ranIn: string;
  /** Read rounds of a query over a distant store, if requested. */
  readonly rounds?: readonly ReadRound[] | undefined;
  /** Parts that workers ran over a distant store, with their rounds. */
  readonly parts?: readonly PartRounds[] | undefined;
}

const INSTANT_LOG_QUERY =
  'log queries are not supported as an instant query type, please change your query to a range query type';

interface EngineParts {
  readonly catalog: QueryCatalog;
  readonly source: ChunkSource;
  readonly clock: Clock;
  /** Default: every lookup of streams reads footers. */
  readonly indexes?: DayIndexProvider;
  /** Default: everything stored is shown. */
  readonly visibility?: Visibility;
  /** Default: this thread scans everything. */
  readonly workers?: QueryWorkers | undefined;
  /** Default: no result is cached. */
  readonly answers?: AnswerCache | undefined;
  /** Memory of all queries of the process. Default: memory of this engine, with the default limit. */
  readonly memory?: QueryMemory;
  /** Name of this thread or function, for `explain`. Default: the process. */
  readonly ranIn?: string | undefined;
  /** Called with the error that names a chunk which a query skips (skipped-chunks.ts). */
  readonly onSkippedChunk?: ((error: Error) => void) | undefined;
  /** Called with the failure of a task that a query continues without (partial-answer.ts). */
  readonly onSkippedTask?: ((error: Error) => void) | undefined;
}

/**
 * Concurrent export responses. Each holds its lines and its bytes, up to 100 MiB. With files, a second one would
 * only share the CPU time. Over a distant store, it reads while the first one computes.
 */
const LOCAL_EXPORTS = 1;
const DISTANT_EXPORTS = 4;

/** A query on its way. */
interface RunningQuery {
  readonly requester: Requester;
  readonly catalog: QueryCatalog;
  readonly nowNs: bigint;
  readonly statistics: QueryStatistics;
  readonly memory: MemoryBudget;
  readonly partialAnswer: PartialAnswer | undefined;
}

export class QueryEngine {
  readonly #catalog: QueryCatalog;
  readonly #source: ChunkSource;
  readonly #clock: Clock;
  readonly #indexes: DayIndexProvider | undefined;
  readonly #visibility: Visibility | undefined;
  readonly #workers: QueryWorkers | undefined;
  readonly #answers: AnswerCache | undefined;
  readonly #memory: QueryMemory;
  readonly #ranIn: string;
  readonly #onSkippedChunk: EngineParts['onSkippedChunk'];
  readonly #onSkippedTask: EngineParts['onSkippedTask'];
  readonly #exports: ConcurrencyLimit;

  constructor(parts: EngineParts) {
    const {
      catalog,
      source,
      clock,
      indexes,
      visibility,
      workers,
      answers,
      memory = new QueryMemory(),
      ranIn = PROCESS,
      onSkippedChunk,
      onSkippedTask,
    } = parts;
    this.#catalog = catalog;
    this.#source = source;
    this.#clock = clock;
    this.#indexes = indexes;
    this.#visibility = visibility;
    this.#workers = workers;
    this.#answers = answers;
    this.#memory = memory;
    this.#ranIn = ranIn;
    this.#onSkippedChunk = onSkippedChunk;
    this.#onSkippedTask = onSkippedTask;
    this.#exports = createConcurrencyLimit(source.isDistant ? DISTANT_EXPORTS : LOCAL_EXPORTS);
  }

  /** Throws ClientError. */
  async range(query: RangeQuery, requester: Requester): Promise<QueryAnswer> {
    const { expr } = query;
    const limit = expr.kind === 'log' ? limitEntries(query.limit, requester) : query.limit;
    checkParallelism(requester.limits);
    checkBlocked(query.text, expr, requester.tags, requester.limits.blockedQueries);
    checkExpr(expr, requester.limits);
    const nowNs = this.#clock.nowNs();
    const range = limitRange(query, requester, nowNs);
    return this.#timed(requester, async ({ catalog, statistics, memory, partialAnswer }) => {
      if (expr.kind === 'log') {
        if (range === undefined) return { kind: 'streams', streams: [] };
        const visibleOf = this.#visible(requester, nowNs);
        const charge = chargeOf(requester.limits);
        const maxParallelism = requester.limits.maxQueryParallelism;
        const given = { visibleOf, charge, maxParallelism, memory, partialAnswer };
        const request = { ...query, expr, limit, range, ...requester, ...given };
        return {
          kind: 'streams',
          streams: await runLogQuery(this.#sourcesFor(requester, catalog), request, statistics),
        };
      }
      if (range === undefined) return { kind: 'matrix', series: [], warnings: [] };
      const { startNs, endNs } = alignToStep(range, query.stepNs);
      const { stepNs } = query;
      const over = { expr, startNs, endNs, stepNs, instant: false };
      return this.#metric(over, { requester, catalog, nowNs, statistics, memory, partialAnswer });
    });
  }

  /** Throws ClientError. */
  async instant(query: InstantQuery, requester: Requester): Promise<QueryAnswer> {
    const { text, expr, timeNs } = query;
    if (expr.kind === 'log') throw new BadRequestError(INSTANT_LOG_QUERY);
    checkParallelism(requester.limits);
    checkBlocked(text, expr, requester.tags, requester.limits.blockedQueries);
    checkExpr(expr, requester.limits);
    const nowNs = this.#clock.nowNs();
    const range = limitRange({ startNs: timeNs, endNs: timeNs }, requester, nowNs);
    return this.#timed(requester, async ({ catalog, statistics, memory, partialAnswer }) => {
      if (range === undefined) return { kind: 'vector', timeMs: 0, samples: [], warnings: [] };
      const at = { expr, startNs: timeNs, endNs: timeNs, stepNs: 0n, instant: true };
      return this.#metric(at, { requester, catalog, nowNs, statistics, memory, partialAnswer });
    });
  }

  /**
   * Reads entries of a log query from the start of the range, up to the size of one response. `write` creates
   * the response within the memory of the query. Throws ClientError.
   */
  async export<T>(
    query: ExportQuery,
    requester: Requester,
    write: (exported: ExportedRows) => Promise<T>,
  ): Promise<T> {
    const { text, expr, maxBytes, hasLabels } = query;
    checkParallelism(requester.limits);
    checkBlocked(text, expr, requester.tags, requester.limits.blockedQueries);
    checkExpr(expr, requester.limits);
    const nowNs = this.#clock.nowNs();
    const range = limitHalfOpenRange(query, requester, nowNs) ?? { startNs: query.endNs, endNs: query.endNs };
    await this.#admitted(requester);
    const { tenants, limits, signal } = requester;
    const admitted = () =>
      this.#memory.query(async memory => {
        signal.throwIfAborted();
        const visibleOf = this.#visible(requester, nowNs);
        const charge = chargeOf(limits);
        const request = { tenants, expr, range, maxBytes, hasLabels, signal, visibleOf, charge, memory };
        const exported = await runExport(this.#sourcesFor(requester), request, newStatistics());
        try {
          return await write(exported);
        } finally {
          exported.rows.release();
        }
      });
    return this.#exports(admitted);
  }

  /**
   * Returns the streams with entries in the range, or none if the range is entirely outdated. Throws
   * ClientError.
   */
  async streams(
    selectors: readonly (readonly Matcher[])[],
    range: TimeRange,
    requester: Requester,
  ): Promise<Stream[]> {
    const request = this.#streamsRequest(selectors, range, requester);
    if (request === undefined) return [];
    await this.#admitted(requester);
    return findStreams(this.#catalog, this.#source, request, this.#indexes);
  }

  /** Passes the streams to `visit` one by one; see visitStreams. */
  async visitStreams(
    selectors: readonly (readonly Matcher[])[],
    range: TimeRange,
    requester: Requester,
    visit: (stream: Stream) => void,
  ): Promise<void> {
    const request = this.#streamsRequest(selectors, range, requester);
    if (request === undefined) return;
    await this.#admitted(requester);
    await visitStreams(this.#catalog, this.#source, request, this.#indexes, visit);
  }

  #streamsRequest(
    selectors: readonly (readonly Matcher[])[],
    range: TimeRange,
    requester: Requester,
  ): StreamsRequest | undefined {
    const { tenants, signal } = requester;
    const nowNs = this.#clock.nowNs();
    const allowed = limitHalfOpenRange(range, requester, nowNs);
    if (allowed === undefined) return undefined;
    return { tenants, range: allowed, selectors, signal, visibleOf: this.#visibility?.retained(nowNs) };
  }

  #sourcesFor({ skipsCache = false }: Requester, catalog = this.#catalog) {
    const source = this.#source;
    const clock = this.#clock;
    const workers = this.#workers;
    const answers = this.#answers;
    return { catalog, source, clock, workers, answers: skipsCache ? undefined : answers };
  }

  /** A query may end before it awaits the result, so its failure must not become an unhandled rejection. */
  #visible({ tenants }: Requester, nowNs: bigint): VisibleOf | Promise<VisibleOf> {
    const visible = this.#visibility?.of(tenants, nowNs) ?? (() => ALL_VISIBLE);
    if (visible instanceof Promise) visible.catch(() => undefined);
    return visible;
  }

  async #metric(
    query: Pick<Parameters<typeof runMetricQuery>[1], 'expr' | 'startNs' | 'endNs' | 'stepNs' | 'instant'>,
    { requester, catalog, nowNs, statistics, memory, partialAnswer }: RunningQuery,
  ): Promise<MetricResult> {
    const { tenants, tenantsKey, limits, signal } = requester;
    const visibleOf = this.#visible(requester, nowNs);
    const { maxQuerySeries: maxSeries, maxQueryParallelism: maxParallelism } = limits;
    const charge = chargeOf(limits);
    const request = {
      ...query,
      tenants,
      tenantsKey,
      maxSeries,
      partial: requester.warnings !== undefined,
      signal,
      visibleOf,
      charge,
      maxParallelism,
      memory,
      partialAnswer,
    };
    return runMetricQuery(this.#sourcesFor(requester, catalog), request, statistics);
  }

  /** A query starts with its own time slice, like each of its pages. */
  async #admitted({ tenantsKey, signal }: Requester): Promise<void> {
    await this.#source.scheduler.acquire(tenantsKey);
    signal.throwIfAborted();
  }

  async #timed(
    requester: Requester,
    run: (parts: Omit<RunningQuery, 'requester' | 'nowNs'>) => Promise<QueryResult>,
  ): Promise<QueryAnswer> {
    const started = process.hrtime.bigint();
    await this.#admitted(requester);
    const { warnings, deadlineMs } = requester;
    const partialAnswer =
      warnings === undefined || deadlineMs === undefined
        ? undefined
        : new PartialAnswer(this.#clock, deadlineMs, this.#onSkippedTask);
    const answer = async () => {
      const answered = await this.#withoutDamage(requester, async catalog => {
        const statistics = newStatistics();
        partialAnswer?.begin();
        const parts = { catalog, statistics, partialAnswer };
        const result = await this.#memory.query(memory => run({ ...parts, memory }));
        partialAnswer?.check();
        return { result, statistics };
      }).finally(() => partialAnswer?.end());
      if (partialAnswer?.warning !== undefined) warnings?.push(partialAnswer.warning);
      const execNs = Number(process.hrtime.bigint() - started);
      return { ...answered, execNs, ranIn: this.#ranIn };
    };
    if (requester.wantsRounds !== true || !this.#source.isDistant) return answer();
    return tracing(this.#clock, async traced => {
      const answered = await answer();
      return { ...answered, rounds: readRounds(traced.reads), parts: partRounds(traced.parts) };
    });
  }

  /** Runs a query, and again without each damaged chunk that it reads, if the client shows warnings. */
  async #withoutDamage<T>(
    { warnings, signal }: Requester,
    run: (catalog: QueryCatalog) => Promise<T>,
  ): Promise<T> {
    if (warnings === undefined) return run(this.#catalog);
    const skipped = new SkippedChunks();
    for (;;) {
      try {
        const result = await run(skipped.without(this.#catalog));
        if (skipped.warning !== undefined) warnings.push(skipped.warning);
        return result;
      } catch (error) {
        if (signal.aborted || !skipped.takes(error)) throw error;
        this.#onSkippedChunk?.(error);
      }
    }
  }
}

/** Aligns instants of a range query to multiples of the step (docs/dev/logql-semantics.md#alignment). */
function alignToStep({ startNs, endNs }: TimeRange, stepNs: bigint): TimeRange {
  const below = (ns: bigint) => ns - (((ns % stepNs) + stepNs) % stepNs);
  const start = below(startNs);
  const end = below(endNs);
  return { startNs: start, endNs: end === endNs ? end : end + stepNs };
}

const NARROW = 'consider adding more specific stream selectors or reduce the time range of the query';

/** Counts bytes. Refuses to read more than the limit of the tenant or of one machine. */
function chargeOf({ maxQueryBytesRead, maxQuerierBytesRead }: Limits): ((bytes: number) => void) | undefined {
  if (maxQueryBytesRead <= 0 && maxQuerierBytesRead <= 0) return undefined;
  let total = 0;
  const amounts = (limit: number) =>
    `(query: ${formatByteQuantity(total)}, limit: ${formatByteQuantity(limit)})`;
  return bytes => {
    total += bytes;
    if (maxQueryBytesRead > 0 && total > maxQueryBytesRead) {
      throw new BadRequestError(
        `the query would read too many bytes ${amounts(maxQueryBytesRead)}; ${NARROW}`,
      );
    }
    if (maxQuerierBytesRead > 0 && total > maxQuerierBytesRead) {
      throw new BadRequestError(
        `query too large to execute on a single querier: ${amounts(maxQuerierBytesRead)}; ${NARROW}`,
      );
    }
  };
}
