/**
 * Returns all entries of a log query from a time on, as many as fit in one response. It scans whole time
 * windows, so the next response starts at the end of this one and no entry is in two. A limited log query
 * considers every page of its range for each response. An export considers only the pages of a window, whose
 * size it derives from their bytes.
 */
import { MemoryBudget } from '../../base/model/memory-budget.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { type DayPlan, recordsByDay, type TimeRange } from './day-plan.ts';
import { ExportRows, WindowTooLarge } from './export-rows.ts';
import { windowEnd } from './export-window.ts';
import type { LogSources } from './log-query.ts';
import { compileLogScan, type LogScan, MAX_ENTRY_BYTES } from './log-scan.ts';
import { Overlaps } from './overlaps.ts';
import { planPruned } from './pruned-plan.ts';
import { type ScanContext, scanPages } from './scan.ts';
import { compileSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';
import { type TenantView, tenantViews } from './tenant-view.ts';
import { compileTextPruner } from './text-prune.ts';
import type { VisibleOf } from './visibility.ts';

interface ExportRequest {
  readonly tenants: readonly string[];
  readonly expr: LogExpr;
  readonly range: TimeRange;
  /** Target bytes of lines in the response. It ends a window earlier. */
  readonly maxBytes: number;
  /** Whether label sets are needed. False for files that contain only lines. */
  readonly hasLabels: boolean;
  readonly signal: AbortSignal;
  readonly visibleOf: VisibleOf | Promise<VisibleOf>;
  readonly charge?: ((bytes: number) => void) | undefined;
  readonly memory: MemoryBudget;
}

export interface ExportedRows {
  readonly rows: ExportRows;
  /** Unix ns that the times of the rows are relative to. */
  readonly dayStartNs: bigint;
  /** End of the complete part: all entries before it are included. */
  readonly endNs: bigint;
}

/** Maximum bytes of lines scanned for one response, as a multiple of its target: a filter may keep few. */
const MAX_SCANNED_FACTOR = 16;
/** Share of the target from which on a window completes a response. */
const MIN_FILLED = 0.5;

interface TenantPlan {
  readonly view: TenantView;
  readonly plan: DayPlan;
}

/** Throws ClientError. The caller releases the rows. */
export async function runExport(
  sources: LogSources,
  request: ExportRequest,
  statistics: QueryStatistics,
): Promise<ExportedRows> {
  const { expr, maxBytes, hasLabels, memory } = request;
  const scan = compileLogScan(expr, { clock: sources.clock });
  const budget = new MemoryBudget(2 * MAX_ENTRY_BYTES, 'a smaller `bytes`', memory);
  const rows = new ExportRows(maxBytes, budget, { hasLabels });
  try {
    return await collectRows(sources, request, statistics, scan, rows);
  } catch (error) {
    rows.release();
    throw error;
  }
}

async function collectRows(
  sources: LogSources,
  request: ExportRequest,
  statistics: QueryStatistics,
  scan: LogScan,
  rows: ExportRows,
): Promise<ExportedRows> {
  const { tenants, expr, range } = request;
  const views = tenantViews(tenants, expr.selector);
  const [visibleOf, ...lists] = await Promise.all([
    request.visibleOf,
    ...views.map(({ tenant }) => recordsByDay(sources.catalog, tenant, range, false, statistics)),
  ]);
  const days = [...new Set(lists.flat().map(({ day }) => day))].sort((a, b) => a - b);
  for (const day of days) {
    const plans: TenantPlan[] = [];
    for (const [index, view] of views.entries()) {
      const records = lists[index].find(each => each.day === day)?.records ?? [];
      const selector = compileSelector(view.storedMatchers(expr.selector));
      const pruner = compileTextPruner(expr.stages, sources.source, statistics);
      const { source } = sources;
      const visible = visibleOf(view.tenant);
      const toPlan = { source, selector, range, visible, pruner, statistics, signal: request.signal };
      const { plan } = await planPruned(toPlan, { day, records });
      plans.push({ view, plan });
    }
    const end = await exportDay({ sources, request, statistics, scan, rows }, plans);
    const dayStartNs = BigInt(day) * NS_PER_DAY;
    const [{ plan }] = plans;
    if (end < plan.to) return { rows, dayStartNs, endNs: dayStartNs + BigInt(end) };
    if (rows.count > 0)
      return { rows, dayStartNs, endNs: day === days.at(-1) ? range.endNs : dayStartNs + BigInt(plan.to) };
  }
  return { rows, dayStartNs: 0n, endNs: range.endNs };
}

interface DayExport {
  readonly sources: LogSources;
  readonly request: ExportRequest;
  readonly statistics: QueryStatistics;
  readonly scan: LogScan;
  readonly rows: ExportRows;
}

/** Scans windows until the response is filled. Returns the end of the last one. */
async function exportDay(day: DayExport, plans: readonly TenantPlan[]): Promise<number> {
  const { maxBytes } = day.request;
  const { rows } = day;
  const [{ plan }] = plans;
  const pages = plans.flatMap(each => each.plan.pages);
  let { from } = plan;
  for (let windows = 0; windows < MAX_SCANNED_FACTOR && from < plan.to; windows++) {
    if (rows.lineBytes >= MIN_FILLED * maxBytes) break;
    let to = windowEnd(pages, { from, to: plan.to, maxBytes });
    const mark = rows.mark();
    for (let scanned = false; !scanned; ) {
      try {
        await scanWindow(day, plans, { from, to });
        scanned = true;
      } catch (error) {
        if (!(error instanceof WindowTooLarge)) throw error;
        rows.truncate(mark);
        // The entries found before are the response.
        if (rows.count > 0) return from;
        // Entries with one timestamp stay together, within the memory limit.
        if (to - from <= 1) rows.maxLineBytes = Number.POSITIVE_INFINITY;
        else to = from + Math.floor((to - from) / 2);
      }
    }
    from = to;
  }
  return from;
}

async function scanWindow(
  { sources: { source }, request, statistics, scan, rows }: DayExport,
  plans: readonly TenantPlan[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const { signal, charge } = request;
  const { pipeline, timeSlice, hidden } = scan;
  const wants = { lines: 'bytes', metadata: 'all', fieldColumns: pipeline.fieldColumns } as const;
  for (const [tenant, { view, plan: whole }] of plans.entries()) {
    const pages = whole.pages
      .filter(({ first, last }) => first < to && last >= from)
      // Adjacent pages of a chunk are read together.
      .sort((a, b) => (a.record === b.record ? a.page.offset - b.page.offset : 0));
    const plan: DayPlan = { ...whole, from, to, pages };
    const context: ScanContext = {
      source,
      statistics,
      signal,
      timeSlice,
      hidden,
      charge,
      shown: view.shown,
      // The next window continues there, in this response or the next one.
      followedFrom: to,
    };
    await scanPages(context, plan, pages, new Overlaps(plan, source, statistics), wants, {
      wants: () => true,
      prepare: (page, selection, count) => pipeline.prepare(page, selection, count),
      visit: (page, selection, count, planned) => {
        rows.enter(page, planned, tenant);
        statistics.postFilterLines += pipeline.run(page, selection, count, rows);
        rows.flush();
      },
    });
  }
}
