/**
 * Runs the queries of all tails over chunks. Each page is read and decoded once, whatever the number of
 * queries. Entries hidden by delete requests and retention are removed before a query sees them.
 *
 * A page is scanned in time slices, so its lines are copied: the next decoded page reuses their buffer.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import type { PageRows } from '../../base/model/page.ts';
import { PageView } from '../../base/model/page-view.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import { type DayPlan, type PlannedPage, planDay, type TimeRange } from '../query/day-plan.ts';
import { newStatistics } from '../query/statistics.ts';
import type { Visible } from '../query/visibility.ts';
import { EntrySink, type TailEntry } from './tail-entry.ts';
import type { TailQuery } from './tail-query.ts';

interface TailScanOptions {
  readonly source: ChunkSource;
  readonly signal: AbortSignal;
  readonly visible: Visible;
  /** Default: the whole range of the chunks. */
  readonly range?: TimeRange;
  /**
   * Receives entries of a query as they are found, ascending by time only within a run of a stream. May delay
   * the scan.
   */
  readonly deliver: (query: TailQuery, entries: TailEntry[]) => Promise<void>;
  /** Reports a query that failed, which is skipped from then on. */
  readonly failed: (query: TailQuery, error: BadRequestError) => void;
}

/**
 * Entries of a query are collected over small pages up to this number, then delivered together: one sort, one
 * frame.
 */
const COLLECTED_ENTRIES = 500;
/**
 * Bytes of lines scanned before the thread yields: 0.5 ms. A time slice per page of a small push would cost
 * more than its scan.
 */
const BYTES_PER_SLICE = 128 * 1024;
const WANTS = { lines: 'bytes', metadata: 'all' } as const;

interface Visit {
  readonly query: TailQuery;
  readonly plan: DayPlan;
  readonly planned: PlannedPage;
}

/** Throws errors of the store, also if a chunk is corrupt or its object was deleted. */
export async function scanChunks(
  records: readonly ChunkRecord[],
  queries: readonly TailQuery[],
  options: TailScanOptions,
): Promise<void> {
  const sinks = new Map(queries.map(query => [query, new EntrySink(query.form)]));
  const { scheduler } = options.source;
  let sinceYield = 0;
  const flush = async (least: number): Promise<void> => {
    for (const [query, { entries }] of sinks) {
      if (entries.length > 0 && entries.length >= least) await options.deliver(query, entries.splice(0));
    }
  };
  for (const [day, recordsOfDay] of byDay(records)) {
    for (const visits of await pagesOfDay(day, recordsOfDay, [...sinks.keys()], options)) {
      options.signal.throwIfAborted();
      await visitPage(visits, sinks, options);
      await flush(COLLECTED_ENTRIES);
      sinceYield += visits[0].planned.page.lineBytes * visits.length;
      if (sinceYield < BYTES_PER_SLICE) continue;
      sinceYield = 0;
      await scheduler.acquire(visits[0].planned.record.tenant);
    }
  }
  await flush(0);
}

function byDay(records: readonly ChunkRecord[]): Map<number, ChunkRecord[]> {
  const days = new Map<number, ChunkRecord[]>();
  for (const record of records) {
    const recordsOfDay = days.get(record.day);
    if (recordsOfDay === undefined) days.set(record.day, [record]);
    else recordsOfDay.push(record);
  }
  return days;
}

/** Plans the work of a day page by page, in the order of the records. */
async function pagesOfDay(
  day: number,
  records: readonly ChunkRecord[],
  queries: readonly TailQuery[],
  { source, signal, visible, range }: TailScanOptions,
): Promise<Visit[][]> {
  const startNs = BigInt(day) * NS_PER_DAY;
  const within = range ?? { startNs, endNs: startNs + NS_PER_DAY };
  const byPage = new Map<string, Visit[]>();
  const order = new Map(records.map(({ id }, i) => [id, i]));
  for (const query of queries) {
    const plan = await planDay(
      source,
      day,
      records,
      query.selector,
      within,
      newStatistics(),
      signal,
      visible,
    );
    for (const planned of plan.pages) {
      const key = `${planned.record.id}/${planned.page.offset}`;
      const visits = byPage.get(key);
      if (visits === undefined) byPage.set(key, [{ query, plan, planned }]);
      else visits.push({ query, plan, planned });
    }
  }
  const positionOf = ([{ planned }]: Visit[]) => order.get(planned.record.id)!;
  return [...byPage.values()].sort(
    (a, b) => positionOf(a) - positionOf(b) || a[0].planned.page.offset - b[0].planned.page.offset,
  );
}

async function visitPage(
  visits: readonly Visit[],
  sinks: Map<TailQuery, EntrySink>,
  { source, signal, failed }: TailScanOptions,
): Promise<void> {
  const { scheduler } = source;
  const { record, footer, page } = visits[0].planned;
  const decoded = await source.page(record, footer, page, WANTS, newStatistics());
  const rows: PageRows = new PageView(decoded, { lines: Buffer.from(decoded.lines) });
  for (const { query, plan, planned } of visits) {
    const sink = sinks.get(query);
    if (sink === undefined) continue;
    const selection = new Uint32Array(rows.rows);
    let left = selectRows(planned, rows, plan, selection);
    if (planned.deleteFilter !== undefined) left = planned.deleteFilter.hide(rows, selection, left);
    sink.begin(rows, record.id);
    const { timeSlice, pipeline } = query;
    try {
      while (left > 0) {
        const startedMs = scheduler.nowMs();
        timeSlice.left = 0;
        timeSlice.begin();
        pipeline.run(rows, selection, left, sink);
        left = timeSlice.left;
        scheduler.charge(record.tenant, startedMs);
        if (left > 0) {
          await scheduler.acquire(record.tenant);
          signal.throwIfAborted();
        }
      }
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error;
      sinks.delete(query);
      failed(query, error);
    }
  }
}

/** Selects rows of matching runs that are in the range and not expired, ascending. */
function selectRows(
  { page, footer, runs }: PlannedPage,
  rows: PageRows,
  { from, to, kept }: DayPlan,
  selection: Uint32Array,
): number {
  let count = 0;
  for (const run of runs) {
    const end = run.firstRow + run.rows;
    const keptFrom = Math.max(from, kept?.keptFrom(footer.streams[run.stream].labels) ?? 0);
    // Most rows are live and inside, so their times are not read.
    const isInside = run.first >= keptFrom && run.last < to;
    const first = isInside ? run.firstRow : lowerBound(rows.times, run.firstRow, end, keptFrom - page.base);
    const last = isInside ? end : lowerBound(rows.times, run.firstRow, end, to - page.base);
    for (let row = first; row < last; row++) selection[count++] = row;
  }
  return count;
}
