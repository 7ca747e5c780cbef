/**
 * Runs log queries: walks the days in the direction of the query and stops as soon as the limit is reached.
 */

import { type AheadOptions, mapAhead } from '../../base/model/at-once.ts';
import type { Labels } from '../../base/model/labels.ts';
import { MemoryBudget } from '../../base/model/memory-budget.ts';
import { NS_PER_DAY, NS_PER_SECOND } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { LineForm } from '../../execution/fields/line-form.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { formatExpr } from '../../language/logql/printer.ts';
import { BegunReads } from './begun-reads.ts';
import type { ChunkSource } from './chunk-source.ts';
import {
  type ChunkLookup,
  PLANNED_DAYS_AT_ONCE,
  type PlannedPage,
  recordsByDay,
  streamsOfPlan,
  type TimeRange,
} from './day-plan.ts';
import { compareSources, type EntrySource } from './entry-order.ts';
import { type CollectedEntry, type EntryFields, LogCollector } from './log-collector.ts';
import { compileLogScan, inDirection, MAX_ENTRY_BYTES, readsOfEntries, scanEntries } from './log-scan.ts';
import { Overlaps } from './overlaps.ts';
import { type PartialAnswer, shareOfPages } from './partial-answer.ts';
import { planPruned } from './pruned-plan.ts';
import { MAX_QUERY_MEMORY_BYTES } from './query-memory.ts';
import { BYTES_PER_LABEL, cachedOrComputed, type TenantRecords } from './results-cache.ts';
import { compileSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';
import type { AnswerCache } from './tasks/answer-cache.ts';
import { wholeDay } from './tasks/day-slices.ts';
import type { FanOutParts } from './tasks/fan-out-common.ts';
import { EntryFanOut } from './tasks/fan-out-entries.ts';
import type { QueryWorkers } from './tasks/query-workers.ts';
import { tenantViews } from './tenant-view.ts';
import { compileTextPruner, type TextPruner } from './text-prune.ts';
import type { VisibleOf } from './visibility.ts';

interface LogRequest {
  readonly tenants: readonly string[];
  readonly expr: LogExpr;
  readonly range: TimeRange;
  /** Maximum number of entries in the response. */
  readonly limit: number;
  readonly backward: boolean;
  /** Minimum distance between two entries of the response, ns. 0 returns all. */
  readonly intervalNs: bigint;
  /** Whether to return label categories separately (docs/dev/wire-format.md#label-categories). */
  readonly categorize: boolean;
  /**
   * Name of the only field of the lines that is needed, with categorized labels only. An entry whose field a
   * column stores has no line, and the field is its only parsed label. Other entries are unchanged. With
   * EVERY_FIELD (every-field-scan.ts) all fields are needed: if columns know them, an entry has a line with
   * the same fields in any order. If a template knows them, it has the form of the line and its values.
   */
  readonly field?: string | undefined;
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

export interface LogEntry {
  readonly timeNs: bigint;
  readonly line: string;
  /** As EntryFields.form. */
  readonly form?: LineForm | undefined;
  readonly structuredMetadata: Labels | undefined;
  readonly parsed: Labels | undefined;
}

export interface LogStream {
  readonly labels: Labels;
  readonly text: string;
  /** Entries in the direction of the query. */
  readonly entries: LogEntry[];
}

export interface LogSources {
  readonly catalog: ChunkLookup;
  readonly source: ChunkSource;
  readonly clock: Clock;
  /** Default: this thread scans everything. */
  readonly workers?: QueryWorkers | undefined;
  /** Default: no result is cached. */
  readonly answers?: AnswerCache | undefined;
}

interface FoundEntry extends EntryFields {
  readonly timeNs: bigint;
  readonly source: EntrySource;
}

/** Returns the streams, ascending by label text. */
export async function runLogQuery(
  sources: LogSources,
  request: LogRequest,
  statistics: QueryStatistics,
): Promise<LogStream[]> {
  const found =
    request.intervalNs > 0n
      ? await thinned(sources, request, statistics)
      : await first(sources, request, statistics);
  statistics.entriesReturned += found.length;
  return grouped(found);
}

/** Returns the first `limit` entries over all tenants, computed or cached. */
async function first(
  sources: LogSources,
  request: LogRequest,
  statistics: QueryStatistics,
): Promise<readonly FoundEntry[]> {
  const { tenants, expr, range, limit, backward, categorize, field, charge, memory, partialAnswer } = request;
  const views = tenantViews(tenants, expr.selector);
  const [visibleOf, ...days] = await Promise.all([
    request.visibleOf,
    ...views.map(({ tenant }) => recordsByDay(sources.catalog, tenant, range, backward, statistics)),
  ]);
  const asked = {
    query: formatExpr(expr),
    terms: [JSON.stringify(field ?? null), range.startNs, range.endNs, limit, backward, categorize],
  };
  const { answers } = sources;
  const records = views.map((view, i) => ({ view, visible: visibleOf(view.tenant), days: days[i] }));
  const kept = { answers, asked, records, statistics, charge, memory, partialAnswer, weigh: weightOf };
  return cachedOrComputed(kept, ofFind => find(sources, request, records, ofFind));
}

/** Reason with which a query ends its reads. Created once, because an exception records the stack. */
const ENDED = new DOMException('the query has ended', 'AbortError');

/** Bytes of an entry in addition to its texts. */
const BYTES_PER_ENTRY = 200;

function weightOf(entries: readonly FoundEntry[]): number {
  let bytes = 0;
  for (const { line, structuredMetadata, parsed, stream } of entries) {
    bytes += BYTES_PER_ENTRY + 2 * line.length;
    for (const labels of [stream, structuredMetadata, parsed]) {
      for (const { name, value } of labels ?? []) bytes += BYTES_PER_LABEL + name.length + 2 * value.length;
    }
  }
  return bytes;
}

async function find(
  sources: LogSources,
  request: LogRequest,
  records: readonly TenantRecords[],
  statistics: QueryStatistics,
): Promise<FoundEntry[]> {
  const budget = new MemoryBudget(MAX_ENTRY_BYTES, 'lowering the limit', request.memory);
  const lists: FoundEntry[][] = [];
  for (const { days } of records) request.partialAnswer?.expect(days);
  for (const recordsOfTenant of records) {
    lists.push(await findOfTenant(sources, request, recordsOfTenant, budget, statistics));
  }
  if (lists.length === 1) return lists[0];
  // The sort is stable: equal entries stay in the order of the tenants.
  const all = lists.flat().sort((a, b) => {
    if (a.timeNs === b.timeNs) return compareSources(a.source, b.source);
    return a.timeNs < b.timeNs === request.backward ? 1 : -1;
  });
  return all.slice(0, request.limit);
}

/** The reference thins each interval of this length separately, aligned to the epoch. */
const THINNED_INTERVAL_NS = 3600n * NS_PER_SECOND;

/**
 * Returns an entry, then the next one at least the interval away, and so on. As in the reference, each hour
 * starts over, and only its first `limit` entries are considered: a larger limit thins more of it.
 */
async function thinned(
  sources: LogSources,
  request: LogRequest,
  statistics: QueryStatistics,
): Promise<FoundEntry[]> {
  const { intervalNs, backward, limit } = request;
  const kept: FoundEntry[] = [];
  let range = request.range;
  while (kept.length < limit && range.startNs < range.endNs) {
    const found = await first(sources, { ...request, range }, statistics);
    if (found.length === 0) break;
    const interval = intervalOf(found[0].timeNs);
    let last: bigint | undefined;
    for (const entry of found) {
      if (intervalOf(entry.timeNs) !== interval || kept.length === limit) break;
      if (last !== undefined && distance(last, entry.timeNs) < intervalNs) continue;
      kept.push(entry);
      last = entry.timeNs;
    }
    range = backward
      ? { startNs: range.startNs, endNs: interval * THINNED_INTERVAL_NS }
      : { startNs: (interval + 1n) * THINNED_INTERVAL_NS, endNs: range.endNs };
  }
  return kept;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

function intervalOf(ns: bigint): bigint {
  const whole = ns / THINNED_INTERVAL_NS;
  return ns < 0n && whole * THINNED_INTERVAL_NS !== ns ? whole - 1n : whole;
}

async function findOfTenant(
  sources: LogSources,
  request: LogRequest,
  { view, visible, days }: TenantRecords,
  budget: MemoryBudget,
  statistics: QueryStatistics,
): Promise<FoundEntry[]> {
  const { source, clock } = sources;
  const { expr, range, limit, backward, categorize, partialAnswer } = request;
  const signal =
    partialAnswer === undefined ? request.signal : AbortSignal.any([request.signal, partialAnswer.signal]);
  const selector = compileSelector(view.storedMatchers(expr.selector));
  const scan = compileLogScan(expr, { clock, field: request.field });
  // Compiled after the pipeline, which reports invalid stages.
  const pruner = compileTextPruner(expr.stages, source, statistics);
  const context = { source, statistics, signal, charge: request.charge, shown: view.shown };
  const parts = fanOutParts(sources, { ...request, signal }, statistics);
  const fanOut = parts && new EntryFanOut(parts, request);
  const found: FoundEntry[] = [];
  /** Ends of the days that are being read, in order. */
  const unfinished: (() => void)[] = [];
  const isOver = () => found.length >= limit;
  const begun = source.isDistant
    ? new BegunReads({ endsEarly: true, maxCost: sources.workers?.sizes.inlineBytes })
    : undefined;
  const ending = new AbortController();
  const untilEnd = AbortSignal.any([signal, ending.signal]);
  const slices =
    fanOut?.slicesOf(days, { selector, range, prunes: pruner.prunes }) ??
    days.map(day => wholeDay(day, range));
  const planned = mapAhead(slices, aheadOf(source, pruner), async slice => {
    if (slice.chunks !== undefined) return { slice, chunks: slice.chunks };
    const toPlan = { source, selector, visible, pruner, statistics, signal: untilEnd, range: slice.range };
    const { all, plan } = await planPruned(toPlan, slice.ofSlice);
    const pages = inDirection(plan.pages, backward);
    const reads = begun?.begin(pages, () => readsOfEntries(context, scan, pages));
    return { slice, plans: { all, plan, pages, reads } };
  });
  try {
    for await (const { slice, chunks, plans } of planned) {
      const { whole, share: shareOfDay } = slice;
      const collector = new LogCollector(limit - found.length, backward, categorize, budget);
      const finishDay = () => {
        const dayStart = BigInt(whole.day) * NS_PER_DAY;
        for (const entry of collector.finish()) {
          if (found.length < limit) found.push(foundEntry(entry, dayStart));
        }
        unfinished.shift();
      };
      /** Whether the day fills the limit, although some of its tasks may still run. No later day can change the result. */
      const isFull = () => collector.bound !== undefined;
      unfinished.push(finishDay);
      if (chunks !== undefined) {
        const covers = (share: number) => partialAnswer?.cover(whole, share * shareOfDay);
        await fanOut?.addChunks({ ...chunks, view, visible, collector, covers }, isOver);
        await fanOut?.whenMerged(finishDay);
        if (isOver() || isFull()) break;
        continue;
      }
      const { all, plan, pages, reads } = plans;
      statistics.streams += streamsOfPlan(all).size;
      const overlaps = new Overlaps(plan, source, statistics);
      const covers = (some: readonly PlannedPage[]) =>
        partialAnswer?.cover(whole, shareOfPages(some, pages) * shareOfDay);
      const inlineCount = fanOut?.inlinePageCount(pages) ?? pages.length;
      const inlineReads = begun?.take(reads, inlineCount === pages.length);
      await scanEntries(
        context,
        scan,
        { plan, pages: pages.slice(0, inlineCount), overlaps },
        collector,
        inlineReads,
      );
      if (inlineCount > 0 || pages.length === 0) covers(pages.slice(0, inlineCount));
      if (fanOut === undefined || (inlineCount === pages.length && fanOut.isIdle)) finishDay();
      else {
        const from = { plan, pages: pages.slice(inlineCount), overlaps };
        await fanOut.add({ from, view, visible, collector, covers }, isOver);
        await fanOut.whenMerged(finishDay);
      }
      if (isOver() || isFull()) break;
    }
    await fanOut?.finish(isOver);
  } catch (error) {
    if (partialAnswer === undefined || request.signal.aborted || !partialAnswer.takes(error)) throw error;
    // Entries were merged in the direction of the query, so those of the first of these days come next.
    unfinished[0]?.();
  } finally {
    fanOut?.stop();
    begun?.end();
    ending.abort(ENDED);
  }
  return found;
}

/**
 * Returns how many days are planned before they are scanned. Over a distant store it is all days at once if
 * text indexes are checked, because most days of such a query have nothing. Otherwise the number doubles with
 * each day, because the first days may be enough.
 */
function aheadOf({ isDistant }: ChunkSource, { prunes }: TextPruner): AheadOptions {
  if (!isDistant) return { width: 1 };
  return { width: prunes ? PLANNED_DAYS_AT_ONCE : 1, maxWidth: PLANNED_DAYS_AT_ONCE };
}

function foundEntry(
  { time, source, line, form, key, stream, structuredMetadata, parsed }: CollectedEntry,
  dayStartNs: bigint,
): FoundEntry {
  return { timeNs: dayStartNs + BigInt(time), source, line, form, key, stream, structuredMetadata, parsed };
}

/** Returns undefined if there are no workers. */
export function fanOutParts(
  { workers }: LogSources,
  request: Pick<LogRequest, 'signal' | 'memory' | 'maxParallelism' | 'charge' | 'partialAnswer'>,
  statistics: QueryStatistics,
): FanOutParts | undefined {
  if (workers === undefined) return undefined;
  const { signal, charge, memory = new MemoryBudget(MAX_QUERY_MEMORY_BYTES), maxParallelism } = request;
  const { partialAnswer } = request;
  const skips = partialAnswer && ((error: unknown) => partialAnswer.skips(error));
  return { workers, maxParallelism: maxParallelism || Infinity, memory, signal, statistics, charge, skips };
}

function grouped(entries: readonly FoundEntry[]): LogStream[] {
  const byKey = new Map<string, LogStream>();
  for (const { key, stream, timeNs, line, form, structuredMetadata, parsed } of entries) {
    let group = byKey.get(key);
    if (group === undefined) {
      group = { labels: stream, text: key, entries: [] };
      byKey.set(key, group);
    }
    group.entries.push({ timeNs, line, form, structuredMetadata, parsed });
  }
  return [...byKey.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}
