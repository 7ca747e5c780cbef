/** Queries as the API asks them: parsed, checked against the tenant's limits, run, with what they read. */
import type { Catalog } from '../catalog/catalog.ts';
import type { Expr, Matcher } from '../logql/ast.ts';
import type { MemoryBudget } from '../metrics/memory-budget.ts';
import type { MetricResult } from '../metrics/result.ts';
import { BadRequestError } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import type { Stream } from '../model/page.ts';
import type { Clock } from '../ports/clock.ts';
import { checkBlocked } from './blocked.ts';
import { formatByteQuantity } from './byte-quantity.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { TimeRange } from './day-plan.ts';
import { type LogStream, runLogQuery } from './log-query.ts';
import { runMetricQuery } from './metric-query.ts';
import { checkEntriesLimit, checkExpr, checkParallelism, limitRange } from './query-limits.ts';
import { QueryMemory } from './query-memory.ts';
import { RoomLeft, TooLargeHere } from './room-left.ts';
import { newStatistics, type QueryStatistics } from './statistics.ts';
import { type DayIndexProvider, findStreams, type StreamsRequest, visitStreams } from './streams-query.ts';
import type { AnswerCache } from './tasks/answer-cache.ts';
import type { QueryWorkers } from './tasks/query-workers.ts';
import { ALL_VISIBLE, type Visibility, type VisibleOf } from './visibility.ts';

/** Who asks, and within which bounds. */
export interface Asker {
  readonly tenants: readonly string[];
  /** Of all tenants together, see combineLimits. */
  readonly limits: Limits;
  readonly signal: AbortSignal;
  /** A request of Logs Drilldown: too many series give the first ones and a warning. */
  readonly partial: boolean;
  /** Value of the header X-Query-Tags. */
  readonly tags: string;
  /** Results that were kept are passed over: asked for with `Cache-Control: no-cache`, or to explain what a query reads. */
  readonly readsAnew?: boolean;
}

export interface RangeQuery extends TimeRange {
  /** As the client sent it. */
  readonly text: string;
  readonly expr: Expr;
  readonly limit: number;
  readonly backward: boolean;
  readonly stepNs: bigint;
  readonly intervalNs: bigint;
  readonly categorize: boolean;
  /** Of a log query with categorised labels: see LogRequest. */
  readonly field?: string | undefined;
}

export interface InstantQuery {
  /** As the client sent it. */
  readonly text: string;
  readonly expr: Expr;
  readonly timeNs: bigint;
}

export type QueryResult = { readonly kind: 'streams'; readonly streams: readonly LogStream[] } | MetricResult;

export interface QueryAnswer {
  readonly result: QueryResult;
  readonly statistics: QueryStatistics;
  readonly execNs: number;
}

export type EngineCall =
  | { readonly kind: 'range'; readonly query: RangeQuery }
  | { readonly kind: 'instant'; readonly query: InstantQuery };

/**
 * Who answers queries that are too large for this thread. It plans them, scans what is small, and gives the others away whole:
 * merging, sorting and evaluating would hold it as much as their pages.
 *
 *     asked → planned → is there room? → scanned here
 *                             ↓ no: TooLargeHere
 *                      asked there, from the start
 */
export interface QueriesElsewhere {
  /** Bytes, as costOf counts them, that a query of the tenant may scan here; several, joined, are one more. May be infinite. */
  roomOf(tenant: string): number;
  /** Rejects as the engine does, and with the reason of the asker's signal at once. */
  ask(call: EngineCall, asker: Asker): Promise<QueryAnswer>;
}

const INSTANT_LOG_QUERY =
  'log queries are not supported as an instant query type, please change your query to a range query type';

export interface EngineParts {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly clock: Clock;
  /** Without it every lookup of streams reads footers. */
  readonly indexes?: DayIndexProvider;
  /** Without it all that is stored is shown. */
  readonly visibility?: Visibility;
  /** Without them all is scanned in this thread. */
  readonly workers?: QueryWorkers | undefined;
  /** Without it no result is kept. */
  readonly answers?: AnswerCache | undefined;
  /** Without it all that workers do not take is scanned in this thread. */
  readonly elsewhere?: QueriesElsewhere | undefined;
  /** Called with who asks, several joined, when a query begins. */
  readonly onAsked?: ((tenant: string) => void) | undefined;
  /** Of all queries of the process; by default of this engine's, with the usual bound. */
  readonly memory?: QueryMemory;
}

/**
 * What a request takes beside its turns, for HTTP, promises and the collection of its garbage, and for each of the catalog's
 * records, by profiles of the thread under 70 panels a second. It counts as work of the tenant where pushes wait for the thread
 * (scan-turns.ts).
 */
const REQUEST_MS = 1;
const RECORD_MS = 0.01;

/** A query on its way. */
interface Run {
  readonly asker: Asker;
  readonly nowNs: bigint;
  readonly statistics: QueryStatistics;
  readonly memory: MemoryBudget;
  readonly room: RoomLeft | undefined;
}

export class QueryEngine {
  /** Queries that were given away. */
  askedElsewhere = 0;
  private readonly catalog: Catalog;
  private readonly source: ChunkSource;
  private readonly clock: Clock;
  private readonly indexes: DayIndexProvider | undefined;
  private readonly visibility: Visibility | undefined;
  private readonly workers: QueryWorkers | undefined;
  private readonly answers: AnswerCache | undefined;
  private readonly memory: QueryMemory;
  private readonly onAsked: EngineParts['onAsked'];
  private readonly elsewhere: QueriesElsewhere | undefined;

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
      onAsked,
      elsewhere,
    } = parts;
    this.catalog = catalog;
    this.source = source;
    this.clock = clock;
    this.indexes = indexes;
    this.visibility = visibility;
    this.workers = workers;
    this.answers = answers;
    this.memory = memory;
    this.onAsked = onAsked;
    this.elsewhere = elsewhere;
  }

  /** Throws ClientError. */
  async range(query: RangeQuery, asker: Asker): Promise<QueryAnswer> {
    const { expr } = query;
    if (expr.kind === 'log') checkEntriesLimit(query.limit, asker.limits);
    checkParallelism(asker.limits);
    checkBlocked(query.text, expr, asker.tags, asker.limits.blockedQueries);
    checkExpr(expr, asker.limits);
    const nowNs = this.clock.nowNs();
    const range = limitRange(query, asker.limits, nowNs);
    return this.timed({ kind: 'range', query }, asker, async ({ statistics, memory, room }) => {
      if (expr.kind === 'log') {
        if (range === undefined) return { kind: 'streams', streams: [] };
        const visibleOf = await this.visible(asker, nowNs);
        const charge = chargeOf(asker.limits);
        const maxParallelism = asker.limits.maxQueryParallelism;
        const request = { ...query, expr, range, ...asker, visibleOf, charge, maxParallelism, memory };
        return {
          kind: 'streams',
          streams: await runLogQuery(this.sourcesFor(asker, room), request, statistics),
        };
      }
      if (range === undefined) return { kind: 'matrix', series: [], warnings: [] };
      const { startNs, endNs } = alignToStep(range, query.stepNs);
      const { stepNs } = query;
      const over = { expr, startNs, endNs, stepNs, instant: false };
      return this.metric(over, { asker, nowNs, statistics, memory, room });
    });
  }

  /** Throws ClientError. */
  async instant(query: InstantQuery, asker: Asker): Promise<QueryAnswer> {
    const { text, expr, timeNs } = query;
    if (expr.kind === 'log') throw new BadRequestError(INSTANT_LOG_QUERY);
    checkParallelism(asker.limits);
    checkBlocked(text, expr, asker.tags, asker.limits.blockedQueries);
    checkExpr(expr, asker.limits);
    const nowNs = this.clock.nowNs();
    const range = limitRange({ startNs: timeNs, endNs: timeNs }, asker.limits, nowNs);
    return this.timed({ kind: 'instant', query }, asker, async ({ statistics, memory, room }) => {
      if (range === undefined) return { kind: 'vector', timeMs: 0, samples: [], warnings: [] };
      const at = { expr, startNs: timeNs, endNs: timeNs, stepNs: 0n, instant: true };
      return this.metric(at, { asker, nowNs, statistics, memory, room });
    });
  }

  /** Streams with entries in the range; an entirely outdated range has none. Throws ClientError. */
  async streams(
    selectors: readonly (readonly Matcher[])[],
    range: TimeRange,
    asker: Asker,
  ): Promise<Stream[]> {
    const request = this.streamsRequest(selectors, range, asker);
    if (request === undefined) return [];
    await this.admitted(asker);
    const found = await findStreams(this.catalog, this.source, request, this.indexes);
    this.noteRead(asker, 0);
    return found;
  }

  /** The same, shown one by one; see visitStreams. */
  async visitStreams(
    selectors: readonly (readonly Matcher[])[],
    range: TimeRange,
    asker: Asker,
    visit: (stream: Stream) => void,
  ): Promise<void> {
    const request = this.streamsRequest(selectors, range, asker);
    if (request === undefined) return;
    await this.admitted(asker);
    await visitStreams(this.catalog, this.source, request, this.indexes, visit);
    this.noteRead(asker, 0);
  }

  private streamsRequest(
    selectors: readonly (readonly Matcher[])[],
    range: TimeRange,
    { tenants, limits, signal }: Asker,
  ): StreamsRequest | undefined {
    const nowNs = this.clock.nowNs();
    const allowed = limitRange(range, limits, nowNs);
    if (allowed === undefined) return undefined;
    return { tenants, range: allowed, selectors, signal, visibleOf: this.visibility?.retained(nowNs) };
  }

  private sourcesFor({ readsAnew = false }: Asker, room: RoomLeft | undefined) {
    const { catalog, source, clock, workers, answers } = this;
    return { catalog, source, clock, workers, answers: readsAnew ? undefined : answers, room };
  }

  private async visible({ tenants }: Asker, nowNs: bigint): Promise<VisibleOf> {
    return (await this.visibility?.of(tenants, nowNs)) ?? (() => ALL_VISIBLE);
  }

  private async metric(
    query: Pick<Parameters<typeof runMetricQuery>[1], 'expr' | 'startNs' | 'endNs' | 'stepNs' | 'instant'>,
    { asker, nowNs, statistics, memory, room }: Run,
  ): Promise<MetricResult> {
    const { tenants, limits, signal, partial } = asker;
    const visibleOf = await this.visible(asker, nowNs);
    const { maxQuerySeries: maxSeries, maxQueryParallelism: maxParallelism } = limits;
    const charge = chargeOf(limits);
    const request = {
      ...query,
      tenants,
      maxSeries,
      partial,
      signal,
      visibleOf,
      charge,
      maxParallelism,
      memory,
    };
    return runMetricQuery(this.sourcesFor(asker, room), request, statistics);
  }

  /** Where pushes wait for the thread, queries of a tenant begin as its share of it allows. */
  private admitted({ tenants, signal }: Asker): Promise<void> {
    const tenant = tenants.join('|');
    this.onAsked?.(tenant);
    return this.source.turns.take(signal, tenant);
  }

  /** What a request takes beside its turns: it is parsed and sent, and the catalog's records are read. */
  private noteRead({ tenants }: Asker, chunks: number): void {
    const { turns } = this.source;
    turns.note(turns.nowMs() - REQUEST_MS - chunks * RECORD_MS, tenants.join('|'));
  }

  private async timed(
    call: EngineCall,
    asker: Asker,
    run: (parts: Omit<Run, 'asker' | 'nowNs'>) => Promise<QueryResult>,
  ): Promise<QueryAnswer> {
    const { elsewhere } = this;
    const started = process.hrtime.bigint();
    const execNs = () => Number(process.hrtime.bigint() - started);
    await this.admitted(asker);
    const statistics = newStatistics();
    const bytes = elsewhere?.roomOf(asker.tenants.join('|')) ?? Number.POSITIVE_INFINITY;
    const room = bytes === Number.POSITIVE_INFINITY ? undefined : new RoomLeft(bytes);
    try {
      const result = await this.memory.query(memory => run({ statistics, memory, room }));
      return { result, statistics, execNs: execNs() };
    } catch (error) {
      if (!(error instanceof TooLargeHere)) throw error;
    } finally {
      this.noteRead(asker, statistics.chunksReferenced);
    }
    this.askedElsewhere++;
    // It holds no memory here while it waits.
    return { ...(await elsewhere!.ask(call, asker)), execNs: execNs() };
  }
}

/** Instants of a range query are multiples of the step (LogQL reference, 15.4). */
function alignToStep({ startNs, endNs }: TimeRange, stepNs: bigint): TimeRange {
  const below = (ns: bigint) => ns - (((ns % stepNs) + stepNs) % stepNs);
  const start = below(startNs);
  const end = below(endNs);
  return { startNs: start, endNs: end === endNs ? end : end + stepNs };
}

const NARROW = 'consider adding more specific stream selectors or reduce the time range of the query';

/** Counts bytes and refuses to read more than the tenant may, or than one machine should. */
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
