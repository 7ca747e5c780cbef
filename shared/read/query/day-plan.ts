/**
 * Plans which pages of one UTC day a query reads: those with runs of matching streams in the time range. All
 * times are nanoseconds since the start of the day, exact as numbers.
 */

import { mapAtOnce } from '../../base/model/at-once.ts';
import type { Stream } from '../../base/model/page.ts';
import { NS_OF_DAY, NS_PER_DAY } from '../../base/model/time-units.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { compareChunks } from '../../storage/catalog/chunk-order.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../storage/catalog/day-item.ts';
import type { Footer, PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import type { ChunkDeleteFilters } from '../../upkeep/deletion/delete-filters.ts';
import type { PageDeleteFilter } from '../../upkeep/deletion/page-delete-filter.ts';
import type { DayRetention } from '../../upkeep/retention/day-retention.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { StreamSelector } from './selector.ts';
import type { PlanStatistics, QueryStatistics } from './statistics.ts';
import { ALL_VISIBLE, keptOfDay, type Visible } from './visibility.ts';

/** Unix ns, `startNs` inclusive, `endNs` exclusive. */
export interface TimeRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface PlannedPage {
  readonly record: ChunkRecord;
  readonly footer: Footer;
  readonly page: PageMeta;
  /** Delete filters of the chunk. Undefined if no delete request can apply to it. */
  readonly deleteFilters: ChunkDeleteFilters | undefined;
  readonly deleteFilter: PageDeleteFilter | undefined;
  /** Runs of matching streams in the range that are not hidden as a whole. */
  readonly runs: readonly RunMeta[];
  /** Earliest and latest entry of those runs. */
  readonly first: number;
  readonly last: number;
}

export interface DayPlan {
  readonly day: number;
  /** Range inside the day, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  readonly pages: readonly PlannedPage[];
  /** Undefined if nothing of the day is expired. */
  readonly kept: DayRetention | undefined;
  /**
   * Whether a delete request covers only some of the chunks: of equal entries one may be hidden and another
   * shown.
   */
  readonly isUneven: boolean;
}

/** Part of the catalog that planning uses. */
export type ChunkLookup = Pick<Catalog, 'daysForQuery'>;

export interface DayRecords {
  readonly day: number;
  readonly records: readonly ChunkRecord[];
  readonly indexes: readonly IndexRecord[];
}

/** Maximum footers read at once: on S3 each takes 30 ms, and files do not wait. */
const FOOTERS_AT_ONCE = 32;
/** Maximum footers read at once over a distant store, the number of reads that it accepts at once. */
const DISTANT_FOOTERS_AT_ONCE = 128;
/** Days of a query over a distant store that are planned before they are scanned: a month. */
export const PLANNED_DAYS_AT_ONCE = 31;

/** Returns the records of the range by day, days in the direction of the query. */
export async function recordsByDay(
  catalog: ChunkLookup,
  tenant: string,
  range: TimeRange,
  backward: boolean,
  statistics: QueryStatistics,
): Promise<DayRecords[]> {
  const started = process.hrtime.bigint();
  const days = await catalog.daysForQuery(tenant, range.startNs, range.endNs - 1n);
  statistics.chunkLookupNs += Number(process.hrtime.bigint() - started);
  for (const { records } of days) statistics.chunksReferenced += records.length;
  const found = days.filter(({ records }) => records.length > 0);
  return backward ? found.toReversed() : found;
}

/**
 * Reads the footers of a day's chunks and finds the pages to read, by age of the chunk and in its order.
 *
 * @param wantsSections whether text indexes or summaries of the chunks follow
 */
export async function planDay(
  source: ChunkSource,
  day: number,
  records: readonly ChunkRecord[],
  selector: StreamSelector,
  range: TimeRange,
  statistics: QueryStatistics,
  signal: AbortSignal,
  visible: Visible = ALL_VISIBLE,
  wantsSections = false,
): Promise<DayPlan> {
  const { from, to } = insideDay(day, range);
  const { deleteFilters } = visible;
  const kept = keptOfDay(visible, day);
  // Sorted by age: if pages start at the same time, samples with equal timestamps are added in the order of
  // the plan.
  const possible = records
    .filter(
      ({ pairs, last }) => selector.mayMatch(pairs) && (kept === undefined || last >= kept.leastKeptFrom),
    )
    .sort(compareChunks);
  const figures = statistics.plan;
  figures.chunks += records.length;
  figures.chunksBySketch += records.length - possible.length;
  const isUneven =
    deleteFilters !== undefined && !possible.every(record => deleteFilters.coversEvenly(record));
  const pages: PlannedPage[] = [];
  const footerOf = (record: ChunkRecord): Promise<Footer> => {
    signal.throwIfAborted();
    return source.footer(record, wantsSections);
  };
  // Most footers of pushes are in records. Those that are not would take a round trip for each step below.
  const early = source.isDistant
    ? await mapAtOnce(possible, DISTANT_FOOTERS_AT_ONCE, async record => footerOf(record))
    : undefined;
  for (let i = 0; i < possible.length; i += FOOTERS_AT_ONCE) {
    signal.throwIfAborted();
    const some = possible.slice(i, i + FOOTERS_AT_ONCE);
    const footers = early?.slice(i, i + FOOTERS_AT_ONCE) ?? (await Promise.all(some.map(footerOf)));
    const startedMs = source.scheduler.nowMs();
    for (let j = 0; j < some.length; j++) {
      const chunk = { record: some[j], footer: footers[j], deleteFilters: deleteFilters?.forChunk(some[j]) };
      const before = pages.length;
      addPages(pages, chunk, selector, { from, to, kept });
      countPages(chunk.footer, pages, before, figures);
    }
    // Footers in records and caches never wait, so yield to others explicitly.
    await source.scheduler.yield(some[0].tenant, startedMs);
  }
  return { day, from, to, pages, kept, isUneven };
}

/** @param first index of the chunk's first page in `planned` */
function countPages(
  { pages }: Footer,
  planned: readonly PlannedPage[],
  first: number,
  figures: PlanStatistics,
): void {
  let bytes = 0;
  for (const { storedBytes } of pages) bytes += storedBytes;
  let plannedBytes = 0;
  for (let i = first; i < planned.length; i++) plannedBytes += planned[i].page.storedBytes;
  if (planned.length === first) figures.chunksByStreams++;
  figures.pages += pages.length;
  figures.pageBytes += bytes;
  figures.pagesByStreams += pages.length - (planned.length - first);
  figures.bytesByStreams += bytes - plannedBytes;
}

/** Returns the part of a range inside a day, ns since its start. */
export function insideDay(day: number, range: TimeRange): { from: number; to: number } {
  const start = BigInt(day) * NS_PER_DAY;
  return {
    from: range.startNs <= start ? 0 : Number(range.startNs - start),
    to: range.endNs - start >= NS_PER_DAY ? NS_OF_DAY : Number(range.endNs - start),
  };
}

function addPages(
  pages: PlannedPage[],
  { record, footer, deleteFilters }: Pick<PlannedPage, 'record' | 'footer' | 'deleteFilters'>,
  selector: StreamSelector,
  { from, to, kept }: Pick<DayPlan, 'from' | 'to' | 'kept'>,
): void {
  const { streams } = footer;
  const matching = new Uint8Array(streams.length);
  let matches = 0;
  for (let i = 0; i < streams.length; i++) {
    if (!selector.matches(streams[i])) continue;
    matching[i] = 1;
    matches++;
  }
  if (matches === 0) return;
  for (const page of footer.pages) {
    let runs = runsOf(page, matching, from, to);
    if (kept !== undefined) runs = runs.filter(run => run.last >= kept.keptFrom(streams[run.stream].labels));
    if (deleteFilters !== undefined) {
      runs = runs.filter(run => !deleteFilters.takesAll(streams[run.stream], run.first, run.last));
    }
    if (runs.length === 0) continue;
    let first = Infinity;
    let last = 0;
    for (const run of runs) {
      if (run.first < first) first = run.first;
      if (run.last > last) last = run.last;
    }
    pages.push({
      record,
      footer,
      page,
      deleteFilters,
      deleteFilter: deleteFilters?.forPage({ page, streams, runs }),
      runs,
      first,
      last,
    });
  }
}

const NO_RUNS: readonly RunMeta[] = [];

/** Returns the runs of matching streams in the range. */
function runsOf({ runs }: PageMeta, matching: Uint8Array, from: number, to: number): readonly RunMeta[] {
  let found: RunMeta[] | undefined;
  for (const run of runs) {
    if (matching[run.stream] === 1 && run.last >= from && run.first < to) (found ??= []).push(run);
  }
  // Most pages have none.
  if (found === undefined) return NO_RUNS;
  return found.length === runs.length ? runs : found;
}

/** Returns the streams of a plan. */
export function streamsOfPlan(plan: DayPlan): Set<Stream> {
  const streams = new Set<Stream>();
  for (const { footer, runs } of plan.pages) for (const run of runs) streams.add(footer.streams[run.stream]);
  return streams;
}
