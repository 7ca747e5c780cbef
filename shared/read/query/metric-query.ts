/**
 * Runs metric queries: each range aggregation of the expression is computed in one scan, then the expression
 * is evaluated over them.
 */

import { mapAhead } from '../../base/model/at-once.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import type { Labels } from '../../base/model/labels.ts';
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import { evaluationOf } from '../../execution/metrics/evaluate.ts';
import { BYTES_PER_CELL, type SeriesMatrix } from '../../execution/metrics/matrix.ts';
import { type Leaf, leavesOf } from '../../execution/metrics/plan.ts';
import type { MetricResult } from '../../execution/metrics/result.ts';
import { runWithYields, type YieldPoint } from '../../execution/metrics/steps.ts';
import { sampleFailure } from '../../execution/pipeline/sample-failure.ts';
import type { LogExpr, MetricExpr, RangeAggregationExpr } from '../../language/logql/ast.ts';
import { formatExpr } from '../../language/logql/printer.ts';
import { BegunReads } from './begun-reads.ts';
import { computeInPieces, type RangeReads, timesOf } from './cached-pieces.ts';
import { byStart, countedPlan } from './counted-plan.ts';
import {
  type DayRecords,
  PLANNED_DAYS_AT_ONCE,
  recordsByDay,
  streamsOfPlan,
  type TimeRange,
} from './day-plan.ts';
import { countsWithoutLines } from './footer-counts.ts';
import { countsFromIndex } from './index-counts.ts';
import { fanOutParts, type LogSources } from './log-query.ts';
import { compileMetricScan, type MetricScan, readsOfSamples, scanSamples } from './metric-scan.ts';
import { lineBytesOf, type PartialAnswer } from './partial-answer.ts';
import { planPruned } from './pruned-plan.ts';
import type { TenantRecords } from './results-cache.ts';
import { compileSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';
import { type DaySlice, wholeDay } from './tasks/day-slices.ts';
import { SampleFanOut } from './tasks/fan-out-samples.ts';
import { tenantViews } from './tenant-view.ts';
import { compileTextPruner } from './text-prune.ts';
import type { VisibleOf } from './visibility.ts';

interface MetricRequest {
  readonly tenants: readonly string[];
  /** Names the tenants together in fair scheduling. */
  readonly tenantsKey: string;
  readonly expr: MetricExpr;
  /** Instants are `startNs`, `startNs + stepNs`, ... up to `endNs` inclusive. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** 0 for an instant query. */
  readonly stepNs: bigint;
  /** Whether to return a vector or scalar at `startNs` instead of a matrix. */
  readonly instant: boolean;
  /** 0: no limit. */
  readonly maxSeries: number;
  /** Whether to cut the response to `maxSeries` with a warning, instead of refusing it. */
  readonly partial: boolean;
  readonly signal: AbortSignal;
  /** Requested in parallel with the chunk records. */
  readonly visibleOf: VisibleOf | Promise<VisibleOf>;
  /**
   * Called with the bytes of each page before it is scanned, or afterwards if a worker scanned it. May throw.
   */
  readonly charge?: ((bytes: number) => void) | undefined;
  /** Maximum concurrent tasks. 0: as many as the workers accept. */
  readonly maxParallelism?: number;
  /** Memory budget of the whole query. Default: each part has its own. */
  readonly memory?: MemoryBudget | undefined;
  /** Ends reading before the deadline. Default: the query fails at its deadline. */
  readonly partialAnswer?: PartialAnswer | undefined;
}

/**
 * Maximum concurrent range aggregations of a query over a distant store. Each has its own series in memory.
 */
const LEAVES_AT_ONCE = 4;
/** Maximum concurrent scans of one range aggregation over a distant store: mostly its first and last instants. */
const SCANS_AT_ONCE = 2;

export async function runMetricQuery(
  sources: LogSources,
  request: MetricRequest,
  statistics: QueryStatistics,
): Promise<MetricResult> {
  const matrices = new Map<RangeAggregationExpr, SeriesMatrix>();
  // The same aggregation on both sides of an operator is computed once.
  const leaves = Map.groupBy(
    leavesOf(request.expr),
    leaf => `${formatExpr(leaf.node)} ${JSON.stringify(leaf.grouping ?? null)}`,
  );
  const width = sources.source.isDistant ? LEAVES_AT_ONCE : 1;
  const lookUp = lookupsOf(sources, statistics);
  await inOrder([...leaves.values()], { width, signal: request.signal }, async (same, signal) => {
    const matrix = await aggregate(sources, { ...request, signal }, same[0], lookUp, statistics);
    for (const { node } of same) matrices.set(node, matrix);
  });
  const { expr, startNs, endNs, stepNs, instant, maxSeries, partial } = request;
  const evaluation = evaluationOf(expr, {
    leaf: node => matrices.get(node)!,
    startNs,
    endNs,
    stepNs,
    instant,
    maxSeries,
    partial,
  });
  return runWithYields(evaluation, yieldPointOf(sources, request));
}

/**
 * Processes the list, several items at once. A failure ends all later items, and is thrown after the earlier
 * ones have ended. The thrown error therefore does not depend on timing.
 */
async function inOrder<T>(
  list: readonly T[],
  { width, signal }: { readonly width: number; readonly signal: AbortSignal },
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  try {
    for await (const _ of mapAhead(list, { width }, item => work(item, both)));
  } finally {
    ending.abort(new DOMException('another part of the query failed', 'AbortError'));
  }
}

type LookUp = (tenant: string, times: TimeRange) => Promise<readonly DayRecords[]>;

/** Parts of a query that read the same time share one catalog lookup. */
function lookupsOf({ catalog }: LogSources, statistics: QueryStatistics): LookUp {
  const known = new Map<string, Promise<readonly DayRecords[]>>();
  return (tenant, times) => {
    const key = `${tenant} ${times.startNs} ${times.endNs}`;
    let lookup = known.get(key);
    if (lookup === undefined) {
      lookup = recordsByDay(catalog, tenant, times, false, statistics);
      known.set(key, lookup);
    }
    return lookup;
  };
}

/** Yields in the same way as pages of the query do. */
function yieldPointOf(
  { source: { scheduler } }: LogSources,
  { tenantsKey, signal }: MetricRequest,
): YieldPoint {
  return {
    nowMs: () => scheduler.nowMs(),
    async yield(startedMs) {
      await scheduler.yield(tenantsKey, startedMs);
      signal.throwIfAborted();
    },
  };
}

/** Returns the values of a leaf, computed or cached. */
async function aggregate(
  sources: LogSources,
  request: MetricRequest,
  leaf: Leaf,
  lookUp: LookUp,
  statistics: QueryStatistics,
): Promise<SeriesMatrix> {
  const { op, parameter, range } = leaf.node;
  const { rangeNs, offsetNs, log } = range;
  const { startNs, endNs, stepNs, tenants, charge, memory, partialAnswer } = request;
  const unwrapped = range.unwrap !== undefined;
  const spec = { op, parameter, startNs, endNs, stepNs, rangeNs, offsetNs, unwrapped };
  const times = timesOf(spec);
  const views = rangeNs > 0n ? tenantViews(tenants, log.selector) : [];
  const [visibleOf, ...days] = await Promise.all([
    request.visibleOf,
    ...views.map(({ tenant }) => lookUp(tenant, times)),
  ]);
  const records = views.map((view, i) => ({ view, visible: visibleOf(view.tenant), days: days[i] }));
  const whole = { spec, times, records };
  const scan = (reads: RangeReads, ofScan: QueryStatistics) => compute(sources, request, leaf, reads, ofScan);
  const { answers, source } = sources;
  if (answers === undefined) return scan(whole, statistics);
  const asked = { query: formatExpr(leaf.node), terms: [JSON.stringify(leaf.grouping ?? null)] };
  const width = source.isDistant ? SCANS_AT_ONCE : 1;
  const thread = yieldPointOf(sources, request);
  return computeInPieces(
    { answers, ...asked, whole, width, thread, statistics, charge, memory, partialAnswer },
    scan,
  );
}

async function compute(
  sources: LogSources,
  request: MetricRequest,
  leaf: Leaf,
  { spec, times, records }: RangeReads,
  statistics: QueryStatistics,
): Promise<SeriesMatrix> {
  const { range } = leaf.node;
  const { memory, partialAnswer } = request;
  const reading =
    partialAnswer === undefined
      ? request
      : { ...request, signal: AbortSignal.any([request.signal, partialAnswer.signal]) };
  for (const { days } of records) partialAnswer?.expect(days);
  const scan = compileMetricScan(range, { spec, grouping: leaf.grouping, clock: sources.clock, memory });
  const { extractor, accumulator } = scan;
  const parts = fanOutParts(sources, reading, statistics);
  const fanOut = parts && new SampleFanOut(parts, scan, leaf);
  try {
    for (const recordsOfTenant of records) {
      await scanTenant(
        sources,
        reading,
        recordsOfTenant,
        { log: range.log, scan, fanOut, times },
        statistics,
      );
    }
    await fanOut?.finish();
  } catch (error) {
    if (partialAnswer === undefined || request.signal.aborted || !partialAnswer.takes(error)) throw error;
    await fanOut?.mergeAnswered();
  } finally {
    fanOut?.stop();
  }
  const finishing = accumulator.finishing(series => extractor.series.labelsOf(series));
  const { timesMs, series } = await runWithYields(finishing, yieldPointOf(sources, request));
  const matrix = { timesMs, series: series.filter(({ labels }) => isReadable(labels)) };
  for (const { labels } of matrix.series) {
    const failure = sampleFailure(labels);
    if (failure !== undefined) throw new BadRequestError(failure);
  }
  // The matrix lives until the query ends; its inputs do not. The labels of the series are not shared.
  memory?.reserve(matrix.series.reduce((bytes, { values }) => bytes + values.length * BYTES_PER_CELL, 0));
  accumulator.budget.releaseAll();
  return matrix;
}

/** The reference cannot parse label texts with U+FFFD, and drops the samples of such series. */
function isReadable(labels: Labels): boolean {
  return labels.every(({ value }) => !value.includes('\ufffd'));
}

/** One range aggregation over all tenants. */
interface LeafScan {
  readonly log: LogExpr;
  readonly scan: MetricScan;
  /** Undefined if this thread scans everything. */
  readonly fanOut: SampleFanOut | undefined;
  readonly times: TimeRange;
}

async function scanTenant(
  sources: LogSources,
  { signal, charge, partialAnswer }: MetricRequest,
  { view, visible, days }: TenantRecords,
  { log, scan, fanOut, times: range }: LeafScan,
  statistics: QueryStatistics,
): Promise<void> {
  const { source } = sources;
  const selector = compileSelector(view.storedMatchers(log.selector));
  const context = { source, statistics, signal, charge, shown: view.shown };
  const counts = countsWithoutLines(scan);
  const pruner = compileTextPruner(log.stages, source, statistics);
  // Footers answer most pages of such queries, so few are left to read early.
  const begun =
    source.isDistant && !counts
      ? new BegunReads({ endsEarly: false, maxCost: sources.workers?.sizes.inlineBytes })
      : undefined;
  const asked = { selector, range, prunes: pruner.prunes || counts, counts: countsFromIndex(scan) };
  const slices = fanOut?.slicesOf(days, asked) ?? days.map(day => wholeDay(day, range));
  const planned = mapAhead(slices, { width: source.isDistant ? PLANNED_DAYS_AT_ONCE : 1 }, async slice => {
    if (slice.chunks !== undefined) return { slice, chunks: slice.chunks };
    const toPlan = { source, selector, visible, pruner, statistics, signal, range: slice.range };
    const { all, plan } = await planPruned(toPlan, slice.ofSlice);
    const reads = begun?.begin(plan.pages, () => readsOfSamples(context, scan, byStart(plan.pages)));
    return { slice, plans: { all, plan, reads } };
  });
  try {
    for await (const { slice, chunks, plans } of planned) {
      const covers = coverer(partialAnswer, slice);
      if (chunks !== undefined) {
        await fanOut?.takeChunks(chunks, { view, visible, covers }, statistics);
        continue;
      }
      const { all, plan, reads } = plans;
      statistics.streams += streamsOfPlan(all).size;
      const startedMs = source.scheduler.nowMs();
      const ofPlan = countedPlan(scan, { plan, source, statistics, view });
      source.scheduler.charge(view.tenant, startedMs);
      const isTaken = await fanOut?.takes(ofPlan, { view, visible, covers });
      const inlineReads = begun?.take(reads, isTaken !== true);
      if (isTaken === true) continue;
      const bytesBefore = statistics.lineBytes;
      try {
        await scanSamples(context, scan, ofPlan, inlineReads);
        covers?.(1);
      } catch (error) {
        covers?.((statistics.lineBytes - bytesBefore) / Math.max(1, lineBytesOf(ofPlan.pages)));
        throw error;
      }
    }
  } finally {
    begun?.end();
  }
}

/** Returns undefined for a query that cannot have a partial result. */
function coverer(
  partialAnswer: PartialAnswer | undefined,
  { whole, share: shareOfDay }: DaySlice,
): ((share: number) => void) | undefined {
  return partialAnswer && (share => partialAnswer.cover(whole, share * shareOfDay));
}
