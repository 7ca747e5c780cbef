/**
 * Finds time regions that several chunks of one stream cover (overlaps.ts). Most streams have chunks one
 * after the other. A sort of all runs and one check of each excludes them, without an object per run.
 *
 * Only the runs of a plan count, not its chunks. If a run of one chunk is between two runs of another, they
 * share no region.
 *
 * A chunk contains no entry twice, except in earlier versions. These have entries that differ only in an
 * empty metadata value, which counts as missing. A chunk whose footer lists such a value overlaps itself.
 */
import type { RunMeta } from '../../storage/chunk/format.ts';
import { mayRepeatItself } from '../../storage/chunk/metadata-column.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';

/** A run of the region's stream. */
interface RegionRun {
  readonly page: PlannedPage;
  readonly run: RunMeta;
}

export interface Region {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  /** Runs that meet the region, by chunk in the order of the plan, then in the order of the chunk. */
  readonly runs: readonly RegionRun[];
  resolved: Promise<void> | undefined;
}

export function regionsOf({ pages }: Pick<DayPlan, 'pages'>): Region[] {
  const runs = runsByStream(pages);
  const { texts, starts, order, pageOf, runOf, repeats } = runs;
  const regions: Region[] = [];
  let sorted = new Uint32Array(64);
  for (let stream = 0; stream < texts.length; stream++) {
    const count = starts[stream + 1] - starts[stream];
    const ofStream = order.subarray(starts[stream], starts[stream + 1]);
    if (count < 2 && repeats[pageOf[ofStream[0]]] === 0) continue;
    if (sorted.length < count) sorted = new Uint32Array(2 * count);
    sorted.set(ofStream);
    if (!overlap(runs, pages, sorted.subarray(0, count))) continue;
    const regionRuns = Array.from(ofStream, (i): RegionRun => {
      const page = pages[pageOf[i]];
      return { page, run: page.runs[runOf[i]] };
    });
    for (const region of regionsOfStream(texts[stream], regionRuns)) regions.push(region);
  }
  return regions;
}

/** All runs of a plan, as parallel columns. */
interface Runs {
  readonly pageOf: Uint32Array;
  /** Index in the runs of the page. */
  readonly runOf: Uint32Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly texts: readonly string[];
  /** 1 for each page that may contain an entry twice. */
  readonly repeats: Uint8Array;
  /**
   * Runs by stream, in the order of the plan within a stream. `starts` has the index of each stream's first
   * run in it, and the end.
   */
  readonly order: Uint32Array;
  readonly starts: Uint32Array;
}

function runsByStream(pages: readonly PlannedPage[]): Runs {
  let count = 0;
  for (const page of pages) count += page.runs.length;
  const streamOf = new Uint32Array(count);
  const pageOf = new Uint32Array(count);
  const runOf = new Uint32Array(count);
  const first = new Float64Array(count);
  const last = new Float64Array(count);
  const repeats = Uint8Array.from(pages, ({ page }) => (mayRepeatItself(page) ? 1 : 0));
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  let at = 0;
  for (let p = 0; p < pages.length; p++) {
    const { footer, runs } = pages[p];
    for (let r = 0; r < runs.length; r++, at++) {
      const run = runs[r];
      const { text } = footer.streams[run.stream];
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.push(text) - 1;
        numbers.set(text, number);
      }
      streamOf[at] = number;
      pageOf[at] = p;
      runOf[at] = r;
      first[at] = run.first;
      last[at] = run.last;
    }
  }
  return { pageOf, runOf, first, last, texts, repeats, ...grouped(streamOf, texts.length) };
}

/** Returns indexes by group, ascending within a group. */
function grouped(groupOf: Uint32Array, groups: number): Pick<Runs, 'order' | 'starts'> {
  const starts = new Uint32Array(groups + 1);
  for (let i = 0; i < groupOf.length; i++) starts[groupOf[i] + 1]++;
  for (let group = 0; group < groups; group++) starts[group + 1] += starts[group];
  const next = starts.slice();
  const order = new Uint32Array(groupOf.length);
  for (let i = 0; i < groupOf.length; i++) order[next[groupOf[i]]++] = i;
  return { order, starts };
}

/**
 * Whether two runs of different chunks share an instant, or one may contain an entry twice.
 *
 * @param ofStream runs of a stream, which are sorted by their start
 */
function overlap(
  { pageOf, first, last, repeats }: Runs,
  pages: readonly PlannedPage[],
  ofStream: Uint32Array,
): boolean {
  if (!ascends(ofStream, first)) ofStream.sort((a, b) => first[a] - first[b]);
  // The run so far that ends last. While no two of different chunks meet, only this run can meet the next.
  let [latest] = ofStream;
  if (repeats[pageOf[latest]] === 1) return true;
  for (let i = 1; i < ofStream.length; i++) {
    const run = ofStream[i];
    if (repeats[pageOf[run]] === 1) return true;
    if (first[run] <= last[latest] && pages[pageOf[run]].record !== pages[pageOf[latest]].record) return true;
    if (last[run] > last[latest]) latest = run;
  }
  return false;
}

function ascends(order: Uint32Array, values: Float64Array): boolean {
  for (let i = 1; i < order.length; i++) if (values[order[i]] < values[order[i - 1]]) return false;
  return true;
}

interface TimeExtent {
  first: number;
  last: number;
  readonly runs: RegionRun[];
}

/**
 * Returns the time regions that at least two chunks of a stream cover. A chunk that may repeat itself counts
 * as two.
 */
function regionsOfStream(stream: string, runs: readonly RegionRun[]): Region[] {
  const extents = new Map<string, TimeExtent>();
  const repeating = new Set<TimeExtent>();
  for (const regionRun of runs) {
    const { page, run } = regionRun;
    let extent = extents.get(page.record.id);
    if (extent === undefined) {
      extent = { first: run.first, last: run.last, runs: [] };
      extents.set(page.record.id, extent);
    }
    extent.first = Math.min(extent.first, run.first);
    extent.last = Math.max(extent.last, run.last);
    extent.runs.push(regionRun);
    if (mayRepeatItself(page.page)) repeating.add(extent);
  }
  // A second extent without runs represents the repeats of such a chunk.
  const chunks = [...extents.values(), ...Array.from(repeating, extent => ({ ...extent, runs: [] }))];
  if (chunks.length < 2) return [];
  return sweep(chunks).map(({ from, to, members }) => ({
    stream,
    from,
    to,
    runs: members.flatMap(member =>
      chunks[member].runs.filter(({ run }) => run.first <= to && run.last >= from),
    ),
    resolved: undefined,
  }));
}

interface OverlapSpan {
  readonly from: number;
  readonly to: number;
  /** Indexes of the extents that reach into it, ascending. */
  readonly members: number[];
}

/** Returns the spans that at least two extents cover. Extents include both ends. */
function sweep(extents: readonly { readonly first: number; readonly last: number }[]): OverlapSpan[] {
  const indexes = extents.map((_, i) => i);
  const starts = indexes.slice().sort((a, b) => extents[a].first - extents[b].first);
  const ends = indexes.slice().sort((a, b) => extents[a].last - extents[b].last);
  const spans: OverlapSpan[] = [];
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
      spans.push({ from, to: extents[ends[e]].last, members: [...members].sort((a, b) => a - b) });
      members.clear();
    }
    active.delete(ends[e]);
    e++;
  }
  return spans;
}
