/**
 * Reduces a day's plan of a metric query to the pages that must be read, after footers have counted what they
 * can. The engine and its workers run the same code.
 */

import type { ChunkSource } from './chunk-source.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import {
  countFromFooters,
  countsWithoutLines,
  type FooterCountRequest,
  hasWholeMinutes,
} from './footer-counts.ts';
import type { MetricScan, PagesOfPlan } from './metric-scan.ts';
import { Overlaps } from './overlaps.ts';
import { countFromRuns } from './run-counts.ts';
import type { QueryStatistics } from './statistics.ts';
import type { TenantView } from './tenant-view.ts';

interface PlanToCount {
  readonly plan: DayPlan;
  readonly source: ChunkSource;
  readonly statistics: QueryStatistics;
  readonly view: TenantView;
  /**
   * Returns false for pages that belong to another task and only show which entries are duplicates. Default:
   * all are own pages.
   */
  readonly isOwn?: (page: PlannedPage) => boolean;
}

/** Adds the counts of footers to the scan. Returns the pages that are left to read. */
export function countedPlan(
  { extractor, accumulator, timeSlice }: MetricScan,
  { plan: whole, source, statistics, view, isOwn }: PlanToCount,
): PagesOfPlan {
  const foreign = isOwn === undefined ? [] : whole.pages.filter(page => !isOwn(page));
  const plan =
    foreign.length === 0 || isOwn === undefined ? whole : { ...whole, pages: whole.pages.filter(isOwn) };
  /** Overlaps identify pages by object, and pages that were counted in part are new objects. */
  const overlapsOf = (pages: readonly PlannedPage[]) => {
    const neighbors = new Set(foreign);
    const all = foreign.length === 0 ? pages : [...pages, ...foreign];
    return new Overlaps({ ...whole, pages: all }, source, statistics, page => !neighbors.has(page));
  };
  const counting = { extractor, accumulator, timeSlice, shown: view.shown };
  const counts = countsWithoutLines(counting);
  const ofAll = overlapsOf(plan.pages);
  const request = { ...counting, hides: hidesOf(plan) };
  const uncounted = counts && hasWholeMinutes(accumulator) ? countFromFooters(plan, ofAll, request) : plan;
  const ofUncounted = uncounted === plan ? ofAll : overlapsOf(uncounted.pages);
  const remaining = counts ? countFromRuns(uncounted, ofUncounted, request) : uncounted;
  countCounted(plan, remaining, statistics);
  const overlaps = remaining === uncounted ? ofUncounted : overlapsOf(remaining.pages);
  return {
    plan: foreign.length === 0 ? remaining : { ...remaining, pages: [...remaining.pages, ...foreign] },
    pages: byStart(remaining.pages),
    overlaps,
  };
}

export function byStart(pages: readonly PlannedPage[]): PlannedPage[] {
  return pages.slice().sort((a, b) => a.first - b.first);
}

function countCounted(plan: DayPlan, remaining: DayPlan, { plan: figures }: QueryStatistics): void {
  if (remaining === plan) return;
  const left = new Set(remaining.pages.map(({ page }) => page));
  for (const { page } of plan.pages) {
    if (left.has(page)) continue;
    figures.pagesCounted++;
    figures.bytesCounted += page.storedBytes;
  }
}

/**
 * Whether footer counts of a stream are unusable, because something of it is hidden in the chunk: they cover
 * the whole chunk.
 */
function hidesOf({ kept }: DayPlan): FooterCountRequest['hides'] {
  return ({ record, footer, deleteFilters, deleteFilter }, { stream, firstRow, rows }) => {
    const { [stream]: ofRun } = footer.streams;
    if (kept !== undefined && record.first < kept.keptFrom(ofRun.labels)) return true;
    if (deleteFilters?.mayTakeWhole(ofRun)) return true;
    return deleteFilter !== undefined && !deleteFilter.showsAll(firstRow, rows);
  };
}
