/**
 * Exactly once: the same entry (stream, timestamp, line, metadata) may lie in several chunks, after a retry or a
 * repeated push. Where chunks of one stream overlap in time, their timestamps are merged, lines are compared only
 * where timestamps are equal, and all but one of equal entries are dropped.
 *
 *     chunk A   |--------------|
 *     chunk B            |------------|
 *     region             |-----|            only here are timestamps looked at
 *
 * Regions are resolved when a page that meets one is read, so a limited query pays only for what it passes.
 */
import { hash } from 'node:crypto';
import { ClientError } from '../model/errors.ts';
import type { PageRows } from '../model/page.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import type { QueryStatistics } from './statistics.ts';

/** Rows of one region held at once, 24 bytes each; compaction keeps regions far below. */
const MAX_REGION_ROWS = 8_000_000;

interface Region {
  readonly from: number;
  readonly to: number;
  readonly pages: readonly PlannedPage[];
  resolved: Promise<void> | undefined;
}

export class Overlaps {
  private readonly regions = new Map<string, Region[]>();
  /** Dropped rows: 1 for each row of a page that another chunk has too. */
  private readonly drops = new Map<PlannedPage, Uint8Array>();
  private readonly source: ChunkSource;
  private readonly statistics: QueryStatistics;

  constructor(plan: DayPlan, source: ChunkSource, statistics: QueryStatistics) {
    this.source = source;
    this.statistics = statistics;
    for (const [stream, pages] of pagesByStream(plan)) {
      const regions = regionsOf(stream, pages);
      if (regions.length > 0) this.regions.set(stream, regions);
    }
  }

  /** True where no two chunks share a stretch of time of any stream. */
  get none(): boolean {
    return this.regions.size === 0;
  }

  /** Rows of the page that are to be passed over (1), or undefined where there are none. */
  async droppedRows(page: PlannedPage): Promise<Uint8Array | undefined> {
    if (this.regions.size === 0) return undefined;
    for (const run of page.runs) {
      const stream = page.footer.streams[run.stream].text;
      for (const region of this.regions.get(stream) ?? []) {
        if (region.from <= run.last && region.to >= run.first) {
          region.resolved ??= this.resolve(stream, region);
          await region.resolved;
        }
      }
    }
    return this.drops.get(page);
  }

  private async resolve(stream: string, region: Region): Promise<void> {
    const rows = await this.collect(stream, region);
    const candidates = equalTimes(rows);
    if (candidates.length === 0) return;
    const digests = await this.digest(rows, candidates);
    for (const group of candidates) {
      const seen = new Map<string, PlannedPage>();
      for (const i of group) {
        const digest = digests.get(i)!;
        const page = rows.pages[rows.pageOf[i]];
        if (!seen.has(digest)) seen.set(digest, page);
        else this.drop(page, rows.rowOf[i]);
      }
    }
  }

  private drop(page: PlannedPage, row: number): void {
    let dropped = this.drops.get(page);
    if (dropped === undefined) {
      dropped = new Uint8Array(page.page.rows);
      this.drops.set(page, dropped);
    }
    if (dropped[row] === 0) this.statistics.duplicates++;
    dropped[row] = 1;
  }

  /** Timestamps of the region's rows, of all its chunks. */
  private async collect(stream: string, region: Region): Promise<RegionRows> {
    const wants = { lines: 'none', metadata: new Set<string>() } as const;
    const time: number[] = [];
    const pageOf: number[] = [];
    const rowOf: number[] = [];
    for (let p = 0; p < region.pages.length; p++) {
      const planned = region.pages[p];
      const rows = await this.source.page(
        planned.record,
        planned.footer,
        planned.page,
        wants,
        this.statistics,
      );
      const base = planned.page.base;
      for (const run of planned.runs) {
        if (planned.footer.streams[run.stream].text !== stream) continue;
        for (let row = run.firstRow; row < run.firstRow + run.rows; row++) {
          const at = base + rows.times[row];
          if (at < region.from || at > region.to) continue;
          time.push(at);
          pageOf.push(p);
          rowOf.push(row);
        }
      }
      if (time.length > MAX_REGION_ROWS) {
        throw new ClientError(
          422,
          `more than ${MAX_REGION_ROWS} entries of stream ${stream} overlap in time and are not merged yet; query a shorter time range`,
        );
      }
    }
    return { time, pageOf, rowOf, pages: region.pages };
  }

  /** Digest of line and metadata for each candidate row; pages are read one after the other. */
  private async digest(rows: RegionRows, groups: readonly number[][]): Promise<Map<number, string>> {
    const ofPage = new Map<number, number[]>();
    for (const group of groups) {
      for (const i of group) {
        const list = ofPage.get(rows.pageOf[i]);
        if (list === undefined) ofPage.set(rows.pageOf[i], [i]);
        else list.push(i);
      }
    }
    const digests = new Map<number, string>();
    for (const [p, list] of ofPage) {
      const { record, footer, page } = rows.pages[p];
      const wants = { lines: 'bytes', metadata: 'all' } as const;
      const decoded = await this.source.page(record, footer, page, wants, this.statistics);
      for (const i of list) digests.set(i, entryDigest(decoded, rows.rowOf[i]));
    }
    return digests;
  }
}

interface RegionRows {
  readonly time: readonly number[];
  /** Place in `pages`. */
  readonly pageOf: readonly number[];
  readonly rowOf: readonly number[];
  readonly pages: readonly PlannedPage[];
}

/** Equal where line and metadata are equal. */
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

/** Groups of rows with one timestamp that come from more than one chunk. */
function equalTimes(rows: RegionRows): number[][] {
  const { time, pageOf, pages } = rows;
  const order = Uint32Array.from(time, (_, i) => i);
  order.sort((a, b) => time[a] - time[b] || pageOf[a] - pageOf[b] || a - b);
  const groups: number[][] = [];
  let start = 0;
  for (let i = 1; i <= order.length; i++) {
    if (i < order.length && time[order[i]] === time[order[start]]) continue;
    if (i - start > 1) {
      const group = Array.from(order.subarray(start, i));
      const chunk = pages[pageOf[group[0]]].record;
      if (group.some(row => pages[pageOf[row]].record !== chunk)) groups.push(group);
    }
    start = i;
  }
  return groups;
}

function pagesByStream(plan: DayPlan): Map<string, PlannedPage[]> {
  const byStream = new Map<string, PlannedPage[]>();
  for (const page of plan.pages) {
    for (const run of page.runs) {
      const { text } = page.footer.streams[run.stream];
      const pages = byStream.get(text);
      if (pages === undefined) byStream.set(text, [page]);
      else if (pages[pages.length - 1] !== page) pages.push(page);
    }
  }
  return byStream;
}

/** Stretches of time that at least two chunks of a stream cover. Inside a chunk no entry is there twice. */
function regionsOf(stream: string, pages: readonly PlannedPage[]): Region[] {
  const extents = new Map<string, { first: number; last: number; pages: PlannedPage[] }>();
  for (const page of pages) {
    for (const run of page.runs) {
      if (page.footer.streams[run.stream].text !== stream) continue;
      const extent = extents.get(page.record.id);
      if (extent === undefined) {
        extents.set(page.record.id, { first: run.first, last: run.last, pages: [page] });
        continue;
      }
      extent.first = Math.min(extent.first, run.first);
      extent.last = Math.max(extent.last, run.last);
      if (extent.pages[extent.pages.length - 1] !== page) extent.pages.push(page);
    }
  }
  if (extents.size < 2) return [];
  // Chunks in order of their ids: which of equal entries stays must not depend on the order of reading.
  const chunks = [...extents].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([, extent]) => extent);
  return sweep(chunks).map(({ from, to, members }) => ({
    from,
    to,
    pages: members.flatMap(member => meeting(chunks[member].pages, stream, from, to)),
    resolved: undefined,
  }));
}

function meeting(pages: readonly PlannedPage[], stream: string, from: number, to: number): PlannedPage[] {
  return pages.filter(page =>
    page.runs.some(
      run => page.footer.streams[run.stream].text === stream && run.first <= to && run.last >= from,
    ),
  );
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Places of the extents that reach into it, ascending. */
  readonly members: number[];
}

/** Stretches that at least two extents cover; extents include both ends. */
function sweep(extents: readonly { readonly first: number; readonly last: number }[]): Stretch[] {
  const places = extents.map((_, i) => i);
  const starts = places.slice().sort((a, b) => extents[a].first - extents[b].first);
  const ends = places.slice().sort((a, b) => extents[a].last - extents[b].last);
  const stretches: Stretch[] = [];
  const active = new Set<number>();
  const members = new Set<number>();
  let from = 0;
  for (let s = 0, e = 0; e < ends.length; ) {
    // A start counts before an end at the same time: the two extents share that instant.
    if (s < starts.length && extents[starts[s]].first <= extents[ends[e]].last) {
      active.add(starts[s]);
      if (active.size === 2) {
        from = extents[starts[s]].first;
        for (const one of active) members.add(one);
      } else if (active.size > 2) members.add(starts[s]);
      s++;
      continue;
    }
    if (active.size === 2) {
      stretches.push({ from, to: extents[ends[e]].last, members: [...members].sort((a, b) => a - b) });
      members.clear();
    }
    active.delete(ends[e]);
    e++;
  }
  return stretches;
}
