/**
 * Scans planned pages one after the other, with read-ahead. Each page is passed to a visitor with its
 * selected rows: those of matching runs, inside the range, and not duplicated in another chunk.
 *
 * If columns of a page may replace its lines, only its front is read first. Lines are read only if the
 * visitor still needs them. While pages turn out to need them, the next ones are read whole, because two
 * reads take longer than one.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import { PageView } from '../../base/model/page-view.ts';
import type { PreparedRows } from '../../execution/pipeline/pushdown/pushdown-rows.ts';
import type { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import { hasFieldColumns } from '../../storage/chunk/field-columns.ts';
import { expectParsing, noteParsed, type PageWants, releaseRows } from '../../storage/chunk/reader.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import type { HiddenRows } from './hidden-rows.ts';
import type { Overlaps } from './overlaps.ts';
import { ReadAhead } from './read-ahead.ts';
import type { QueryStatistics } from './statistics.ts';

interface PageVisitor {
  /** Whether the scan may end before its last page. */
  readonly endsEarly?: boolean;
  /** Returning false ends the scan: no page from this one on can matter. */
  wants(page: PlannedPage): boolean;
  /**
   * Narrows the selection of a page whose lines may not have been read, and may request them. It is called
   * once per page, with the rows that `visit` would get.
   */
  prepare?(rows: PageRows, selection: Uint32Array, count: number, page: PlannedPage): PreparedRows;
  /**
   * Visits a page. `selection` holds `count` rows, ascending, and may be modified. It is called again with
   * the rows left at the start of the selection (`timeSlice.left`).
   */
  visit(rows: PageRows, selection: Uint32Array, count: number, page: PlannedPage): void;
}

export interface ScanContext {
  readonly source: ChunkSource;
  readonly statistics: QueryStatistics;
  readonly signal: AbortSignal;
  /** Time slices of the visitor's pipeline. Undefined if a page is one visit. */
  readonly timeSlice?: TimeSlice;
  /** Called with the bytes of each page before it is scanned. May throw. */
  readonly charge?: (bytes: number) => void;
  /** Returns the stream as the query sees it. */
  readonly shown: (stream: Stream) => Stream;
  /**
   * Hides rows for the visitor's pipeline. If undefined, hidden rows are removed before a visit. Statistics
   * count them, because they were read.
   */
  readonly hidden?: HiddenRows;
  /** Pages that reach this time, in ns of the day, are read again by a scan like this one that follows. */
  readonly followedFrom?: number;
}

/** Reads of a scan, which may start before the scan. */
export class PageReads {
  /** Stored bytes of the pages. */
  readonly storedBytes: number;
  /** Whether the previous page needed its lines. */
  linesAreNeeded = false;
  visitor: PageVisitor | undefined;
  /** Called when a page needed its lines after all. */
  onLines: (() => void) | undefined;
  /** Index of the current page. */
  current = -1;
  readonly #pages: readonly PlannedPage[];
  readonly #wants: PageWants;
  readonly #reads: ReadAhead;
  /** Indexes of pages that were read without lines. */
  readonly #fronts = new Set<number>();
  readonly #isDistant: boolean;

  /** @param prepares whether the visitor of the scan may work without lines */
  constructor(
    {
      source,
      statistics,
      followedFrom = Infinity,
    }: Pick<ScanContext, 'source' | 'statistics' | 'followedFrom'>,
    pages: readonly PlannedPage[],
    wants: PageWants,
    { prepares, endsEarly }: { readonly prepares: boolean; readonly endsEarly: boolean },
  ) {
    this.#pages = pages;
    this.#wants = wants;
    this.#isDistant = source.isDistant;
    this.storedBytes = pages.reduce((bytes, { page }) => bytes + page.storedBytes, 0);
    const request = (i: number) => {
      const { record, footer, page } = pages[i];
      // The scan has already decided on page i. Of the others, none from the first that cannot matter.
      if (i > this.current && this.visitor?.wants(pages[i]) === false) return undefined;
      const front = this.linesAreNeeded || !prepares ? undefined : frontOf(pages[i], wants);
      if (front !== undefined) this.#fronts.add(i);
      const nextUse = pages[i].last >= followedFrom ? pages.length : undefined;
      return { record, footer, page, wants: front ?? wholeOf(pages[i], wants), nextUse };
    };
    this.#reads = new ReadAhead({ source, statistics, pages: pages.length, request, endsEarly });
  }

  begin(): void {
    this.#reads.begin();
  }

  /** Returns the rows of page `i`. Call it for 0, 1, 2 and so on. */
  next(i: number): Promise<PageRows> {
    this.current = i;
    return this.#reads.next(i);
  }

  /**
   * Whether page `i` was read without its lines. Over a distant store this requests the lines of the
   * following pages.
   */
  isFront(i: number): boolean {
    if (!this.#fronts.has(i)) return false;
    if (this.#isDistant) {
      this.complete();
      this.onLines?.();
    }
    return true;
  }

  /** Requests the lines of pages that were requested without them, and of later pages. */
  complete(): void {
    this.linesAreNeeded = true;
    this.#reads.complete(index => {
      if (!this.#fronts.delete(index)) return undefined;
      return wholeOf(this.#pages[index], this.#wants);
    });
  }

  /** Call it however the scan ends. */
  end(): void {
    this.#reads.end();
  }
}

/**
 * Scans `pages` (of one plan) in the order given.
 *
 * @param reads reads of these pages, if they were started early
 */
export async function scanPages(
  context: ScanContext,
  plan: DayPlan,
  pages: readonly PlannedPage[],
  overlaps: Overlaps,
  wants: PageWants,
  visitor: PageVisitor,
  reads = new PageReads(context, pages, wants, {
    prepares: visitor.prepare !== undefined,
    endsEarly: visitor.endsEarly === true,
  }),
): Promise<void> {
  const { source, statistics, signal, timeSlice, hidden } = context;
  let selection = new Uint32Array(8192);
  reads.visitor = visitor;
  const seen = new Set<string>();
  try {
    for (let i = 0; i < pages.length; i++) {
      const planned = pages[i];
      if (!visitor.wants(planned)) break;
      signal.throwIfAborted();
      /** Rows as read from the store; `rows` may be a view of them. */
      let stored = await reads.next(i);
      let rows = stored;
      const dropped = await overlaps.droppedRows(planned, signal);
      const { tenant } = planned.record;
      // One page takes 1 to 2 ms. Pushes and other queries run in between.
      await source.scheduler.acquire(tenant);
      signal.throwIfAborted();
      let startedMs = source.scheduler.nowMs();
      if (selection.length < rows.rows) selection = new Uint32Array(rows.rows);
      const { count, lineBytes, metadataBytes } = selectRows(planned, rows, plan, dropped, selection);
      if (!seen.has(planned.record.id)) {
        seen.add(planned.record.id);
        statistics.chunksRead++;
      }
      statistics.lines += count;
      statistics.lineBytes += lineBytes;
      statistics.metadataBytes += metadataBytes;
      context.charge?.(lineBytes + metadataBytes);
      let page = count > 0 ? asShown(withWanted(rows, wants), context.shown) : rows;
      /** Rows with a copy of the lines, after they were lost between two time slices. */
      let kept: PageRows | undefined;
      let isParsed = false;
      if (timeSlice !== undefined) timeSlice.left = 0;
      let left = count;
      if (hidden === undefined && planned.deleteFilter !== undefined)
        left = planned.deleteFilter.hide(rows, selection, count);
      if (left > 0 && visitor.prepare !== undefined) {
        if (wants.fieldColumns?.parsesMost === true && page.fieldColumns === undefined)
          expectParsing(stored, wants, planned.runs);
        const prepared = visitor.prepare(page, selection, left, planned);
        left = prepared.count;
        reads.linesAreNeeded = prepared.needsLines;
        isParsed = prepared.needsLines && wants.fieldColumns?.parsesMost === true;
        if (prepared.needsLines && reads.isFront(i)) {
          stored = await source.more(planned.record, stored, wholeOf(planned, wants), statistics);
          rows = stored;
          startedMs = source.scheduler.nowMs();
          page = asShown(withWanted(rows, wants), context.shown);
        }
      }
      do {
        timeSlice?.begin();
        hidden?.enter(planned.deleteFilter, kept ?? rows);
        if (left > 0) visitor.visit(page, selection, left, planned);
        hidden?.leave();
        left = timeSlice?.left ?? 0;
        if (left === 0 && isParsed) noteParsed(stored, wants, planned.runs);
        const lines = left > 0 && kept === undefined ? rows.lines : undefined;
        source.scheduler.charge(tenant, startedMs);
        if (left > 0) {
          await source.scheduler.acquire(tenant);
          signal.throwIfAborted();
          startedMs = source.scheduler.nowMs();
          // Another query has overwritten the lines, or the cache has evicted them.
          if (lines !== undefined && rows.lines !== lines) {
            kept = withCopiedLines(rows);
            page = asShown(withWanted(kept, wants), context.shown);
          }
        }
      } while (left > 0);
      releaseRows(stored);
    }
  } finally {
    reads.end();
  }
}

/**
 * Returns what to read of a page first if its columns may replace its lines. Undefined if it has no such
 * columns, or if a delete filter reads lines anyway.
 */
function frontOf({ page, deleteFilter }: PlannedPage, wants: PageWants): PageWants | undefined {
  const { lines, fieldColumns } = wants;
  if (lines !== 'bytes' || fieldColumns === undefined) return undefined;
  if (!hasFieldColumns(page, fieldColumns)) return undefined;
  const front: PageWants = { ...wants, lines: 'lengths' };
  return deleteFilter === undefined || deleteFilter.wants(front).lines !== 'bytes' ? front : undefined;
}

function wholeOf({ deleteFilter }: PlannedPage, wants: PageWants): PageWants {
  return deleteFilter === undefined
    ? wants
    : { ...deleteFilter.wants(wants), fieldColumns: wants.fieldColumns };
}

/** A delete filter may need more of a page than the query, which must not change what the query sees. */
function withWanted(rows: PageRows, { metadata }: PageWants): PageRows {
  if (metadata === 'all' || rows.metadata.every(({ name }) => metadata.has(name))) return rows;
  const wanted = rows.metadata.filter(({ name }) => metadata.has(name));
  return new PageView(rows, { metadata: wanted });
}

function asShown(rows: PageRows, shown: (stream: Stream) => Stream): PageRows {
  if (rows.runs.every(run => shown(run.stream) === run.stream)) return rows;
  const runs = rows.runs.map(run => ({ ...run, stream: shown(run.stream) }));
  return new PageView(rows, { runs });
}

/** Copies lines that were lost once. Otherwise they could be lost, and unpacked again, in each time slice. */
function withCopiedLines(rows: PageRows): PageRows {
  return new PageView(rows, { lines: Buffer.from(rows.lines) });
}

interface SelectedRows {
  readonly count: number;
  /** Bytes of the selected rows. For a run that the range cuts, its share by rows. */
  readonly lineBytes: number;
  readonly metadataBytes: number;
}

/** Fills `selection` with the selected rows, ascending. */
function selectRows(
  planned: PlannedPage,
  rows: PageRows,
  { from, to, kept }: DayPlan,
  dropped: Uint8Array | undefined,
  selection: Uint32Array,
): SelectedRows {
  const base = planned.page.base;
  let count = 0;
  let lineBytes = 0;
  let metadataBytes = 0;
  for (const run of planned.runs) {
    const end = run.firstRow + run.rows;
    const { labels } = planned.footer.streams[run.stream];
    const start = kept === undefined ? from : Math.max(from, kept.keptFrom(labels));
    const first = run.first >= start ? run.firstRow : lowerBound(rows.times, run.firstRow, end, start - base);
    const last = run.last < to ? end : lowerBound(rows.times, run.firstRow, end, to - base);
    const before = count;
    for (let row = first; row < last; row++) {
      if (dropped === undefined || dropped[row] === 0) selection[count++] = row;
    }
    const share = (count - before) / run.rows;
    lineBytes += share === 1 ? run.lineBytes : Math.round(run.lineBytes * share);
    metadataBytes += share === 1 ? run.metadataBytes : Math.round(run.metadataBytes * share);
  }
  return { count, lineBytes, metadataBytes };
}
