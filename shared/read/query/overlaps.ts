/**
 * Deduplicates entries across chunks. The same entry (stream, timestamp, line, metadata) may be in several
 * chunks, after a retry or a repeated push. If chunks of one stream overlap in time, their timestamps are
 * merged. Lines are compared only if timestamps are equal. Of equal entries, the first arrival is kept.
 *
 *     chunk A   |--------------|
 *     chunk B            |------------|
 *     region             |-----|            timestamps are compared only in this region
 *
 * Regions are resolved when a page that meets one is read, so a limited query pays only for the pages that it
 * reaches. All regions of that page are resolved together, because a thousand streams that were pushed
 * together share their pages.
 */
import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapAhead } from '../../base/model/at-once.ts';
import { lowerBound } from '../../base/model/binary-search.ts';
import { ClientError } from '../../base/model/errors.ts';
import type { PageRows } from '../../base/model/page.ts';
import { compareChunks } from '../../storage/catalog/chunk-order.ts';
import type { RunMeta } from '../../storage/chunk/format.ts';
import { mayRepeatItself } from '../../storage/chunk/metadata-column.ts';
import type { PageDeleteFilter } from '../../upkeep/deletion/page-delete-filter.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import { type Region, regionsOf } from './overlap-regions.ts';
import type { QueryStatistics } from './statistics.ts';

/** Maximum rows of one region held at once, 32 bytes each. Compaction keeps regions far below. */
export const MAX_REGION_ROWS = 8_000_000;
/** Rows of regions that are resolved together. A larger region is resolved alone. */
const MAX_BATCH_ROWS = 250_000;

/** Pages of a region that are read at once over a distant store: first their timestamps, then whole. */
const TIMES_AT_ONCE = 64;
const PAGES_AT_ONCE = 16;

const NO_STREAMS: ReadonlySet<string> = new Set();

export class Overlaps {
  readonly #regions = new Map<PlannedPage, Region[]>();
  /** 1 for each dropped row of a page: another chunk contains the entry too. */
  readonly #drops = new Map<PlannedPage, Uint8Array>();
  readonly #source: ChunkSource;
  readonly #statistics: QueryStatistics;
  readonly #isUneven: boolean;
  readonly #counts: (page: PlannedPage) => boolean;

  /** @param counts whether dropped rows of a page count in the statistics; default: all do */
  constructor(
    plan: DayPlan,
    source: ChunkSource,
    statistics: QueryStatistics,
    counts: (page: PlannedPage) => boolean = () => true,
  ) {
    this.#counts = counts;
    this.#source = source;
    this.#statistics = statistics;
    this.#isUneven = plan.isUneven;
    for (const region of regionsOf(plan)) {
      for (const { page } of region.runs) {
        const ofPage = this.#regions.get(page);
        if (ofPage === undefined) this.#regions.set(page, [region]);
        else if (ofPage[ofPage.length - 1] !== region) ofPage.push(region);
      }
    }
  }

  /** Whether no two chunks share a time region of any stream. */
  get none(): boolean {
    return this.#regions.size === 0;
  }

  /**
   * Texts of the streams in this page that share a region with another chunk. Call it before pages are read.
   */
  sharedStreams(page: PlannedPage): ReadonlySet<string> {
    const regions = this.#regions.get(page);
    return regions === undefined ? NO_STREAMS : new Set(regions.map(({ stream }) => stream));
  }

  /** Pages whose entries this page may repeat, including itself. Empty if it shares no region. */
  neighborsOf(page: PlannedPage): ReadonlySet<PlannedPage> {
    const neighbors = new Set<PlannedPage>();
    for (const { runs } of this.#regions.get(page) ?? []) {
      for (const { page: other } of runs) neighbors.add(other);
    }
    return neighbors;
  }

  /** Returns 1 for each row of the page to drop, or undefined if there are none. */
  async droppedRows(page: PlannedPage, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    const regions = this.#regions.get(page);
    if (regions === undefined) return undefined;
    for (const batch of batchesOf(regions)) {
      const resolved = this.#resolve(batch, signal);
      for (const region of batch) region.resolved = resolved;
      await resolved;
    }
    for (const region of regions) await region.resolved;
    this.#regions.delete(page);
    return this.#drops.get(page);
  }

  async #resolve(regions: readonly Region[], signal: AbortSignal | undefined): Promise<void> {
    const rows = await this.#collect(regions, signal);
    const candidates = equalTimes(rows);
    if (candidates.length === 0) return;
    const digests = await this.#digest(rows, candidates, signal);
    for (const group of candidates) {
      const seen = new Set<string>();
      for (const i of group) {
        const digest = digests.get(i);
        if (digest === undefined) continue;
        if (!seen.has(digest)) seen.add(digest);
        else this.#drop(rows.pages[rows.pageOf[i]], rows.rowOf[i]);
      }
    }
  }

  #drop(page: PlannedPage, row: number): void {
    let dropped = this.#drops.get(page);
    if (dropped === undefined) {
      dropped = new Uint8Array(page.page.rows);
      this.#drops.set(page, dropped);
    }
    if (dropped[row] === 0 && this.#counts(page)) this.#statistics.duplicates++;
    dropped[row] = 1;
  }

  /** Returns the timestamps of the regions' rows, of all their chunks. Each page is read once. */
  async #collect(regions: readonly Region[], signal: AbortSignal | undefined): Promise<RegionRows> {
    const wants = { lines: 'none', metadata: new Set<string>() } as const;
    const runsOf = new Map<PlannedPage, { readonly region: number; readonly run: RunMeta }[]>();
    for (let r = 0; r < regions.length; r++) {
      for (const { page, run } of regions[r].runs) {
        const known = runsOf.get(page);
        if (known === undefined) runsOf.set(page, [{ region: r, run }]);
        else known.push({ region: r, run });
      }
    }
    // Sorted by age of the chunk, then by position: which of equal entries is kept must not depend on the
    // order of reading.
    const pages = [...runsOf.keys()].sort(byChunk);
    const rows: RegionRows = { regionOf: [], time: [], pageOf: [], rowOf: [], pages };
    const read = mapAhead(pages, { width: this.#source.isDistant ? TIMES_AT_ONCE : 1 }, planned => {
      signal?.throwIfAborted();
      return this.#source.page(planned.record, planned.footer, planned.page, wants, this.#statistics);
    });
    let p = -1;
    for await (const { times } of read) {
      p++;
      const { page } = pages[p];
      for (const { region, run } of runsOf.get(pages[p])!) {
        const { from, to, stream } = regions[region];
        const end = run.firstRow + run.rows;
        const first = lowerBound(times, run.firstRow, end, from - page.base);
        for (let row = first; row < end && page.base + times[row] <= to; row++) {
          rows.regionOf.push(region);
          rows.time.push(page.base + times[row]);
          rows.pageOf.push(p);
          rows.rowOf.push(row);
        }
        if (rows.time.length > MAX_REGION_ROWS) {
          throw new ClientError(
            422,
            `more than ${MAX_REGION_ROWS} entries of stream ${stream} overlap in time and are not merged yet; query a shorter time range`,
          );
        }
      }
      // Chunks in their records never wait, so yield to others explicitly.
      await nextTurn();
    }
    return rows;
  }

  /**
   * Computes a digest of line and metadata for each candidate row, reading pages one after the other. If a
   * delete request hides a row in its chunk but another chunk may show the same entry, the row gets no
   * digest: it must not replace the other.
   */
  async #digest(
    rows: RegionRows,
    groups: readonly number[][],
    signal: AbortSignal | undefined,
  ): Promise<Map<number, string>> {
    const ofPage = new Map<number, number[]>();
    for (const group of groups) {
      for (const i of group) {
        const list = ofPage.get(rows.pageOf[i]);
        if (list === undefined) ofPage.set(rows.pageOf[i], [i]);
        else list.push(i);
      }
    }
    const digests = new Map<number, string>();
    const lists = [...ofPage];
    const wants = { lines: 'bytes', metadata: 'all' } as const;
    const read = mapAhead(lists, { width: this.#source.isDistant ? PAGES_AT_ONCE : 1 }, ([p]) => {
      signal?.throwIfAborted();
      const { record, footer, page } = rows.pages[p];
      return this.#source.page(record, footer, page, wants, this.#statistics);
    });
    let index = 0;
    for await (const decoded of read) {
      const [p, list] = lists[index++];
      const { deleteFilter } = rows.pages[p];
      const shown =
        this.#isUneven && deleteFilter !== undefined
          ? shownRows(
              deleteFilter,
              decoded,
              list.map(i => rows.rowOf[i]),
            )
          : undefined;
      for (const i of list) {
        if (shown?.has(rows.rowOf[i]) !== false) digests.set(i, entryDigest(decoded, rows.rowOf[i]));
      }
      await nextTurn();
    }
    return digests;
  }
}

function shownRows(
  deleteFilter: PageDeleteFilter,
  page: PageRows,
  rows: readonly number[],
): ReadonlySet<number> {
  const selection = Uint32Array.from(new Set(rows)).sort();
  return new Set(selection.subarray(0, deleteFilter.hide(page, selection, selection.length)));
}

interface RegionRows {
  /** Index in the list of regions. */
  readonly regionOf: number[];
  readonly time: number[];
  /** Index in `pages`. */
  readonly pageOf: number[];
  readonly rowOf: number[];
  /** Pages by chunk, in order of age. */
  readonly pages: readonly PlannedPage[];
}

/** Equal if line and metadata are equal. */
function entryDigest(page: PageRows, row: number): string {
  const line = page.lines.subarray(page.lineOffsets[row], page.lineOffsets[row + 1]);
  const pairs: [string, string][] = [];
  for (const column of page.metadata) {
    const id = column.ids[row];
    if (id > 0) pairs.push([column.name, column.valueAt(id - 1)]);
  }
  pairs.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return `${hash('sha256', line, 'base64')} ${JSON.stringify(pairs)}`;
}

/**
 * Groups rows of one region and timestamp that come from several chunks, or from one that may repeat itself.
 */
function equalTimes({ regionOf, time, pageOf, pages }: RegionRows): number[][] {
  const repeating = new Set(pages.filter(({ page }) => mayRepeatItself(page)).map(({ record }) => record));
  const order = Uint32Array.from(time, (_, i) => i);
  order.sort((a, b) => regionOf[a] - regionOf[b] || time[a] - time[b] || pageOf[a] - pageOf[b] || a - b);
  const groups: number[][] = [];
  let start = 0;
  for (let i = 1; i <= order.length; i++) {
    const same =
      i < order.length &&
      time[order[i]] === time[order[start]] &&
      regionOf[order[i]] === regionOf[order[start]];
    if (same) continue;
    // Sorted by page, and therefore by chunk: the first and the last show whether there are two.
    const first = pages[pageOf[order[start]]].record;
    const isShared = pages[pageOf[order[i - 1]]].record !== first || (i - start > 1 && repeating.has(first));
    if (isShared) groups.push(Array.from(order.subarray(start, i)));
    start = i;
  }
  return groups;
}

/** Returns the regions that are not being resolved yet, in groups of bounded size. */
function batchesOf(regions: readonly Region[]): Region[][] {
  const batches: Region[][] = [];
  let rows = 0;
  for (const region of regions) {
    if (region.resolved !== undefined) continue;
    let more = 0;
    for (const { run } of region.runs) more += run.rows;
    if (batches.length === 0 || rows + more > MAX_BATCH_ROWS) {
      batches.push([]);
      rows = 0;
    }
    batches[batches.length - 1].push(region);
    rows += more;
  }
  return batches;
}

function byChunk(a: PlannedPage, b: PlannedPage): number {
  return compareChunks(a.record, b.record) || a.page.offset - b.page.offset;
}
