/** Records what a query pruned and why, for `explain`. Bytes are stored bytes. */
export interface PlanStatistics {
  /** Chunks in the time range, and those that the label sketches prune. */
  chunks: number;
  chunksBySketch: number;
  /** Chunks whose footers show no matching stream in the range. */
  chunksByStreams: number;
  /** Pages of the chunks whose footers were read. */
  pages: number;
  pageBytes: number;
  /** Pages without a matching stream in the range. */
  pagesByStreams: number;
  bytesByStreams: number;
  /** Pages that cannot contain the text of the query. */
  pagesByText: number;
  bytesByText: number;
  /** Remaining pages that cannot contain a value that a label filter requires, of metadata or of a field. */
  pagesByValues: number;
  bytesByValues: number;
  /** Pages answered by the counts of footers. */
  pagesCounted: number;
  bytesCounted: number;
  /** Reads of text indexes. */
  filterReads: number;
  filterBytes: number;
}

/** Place of a query or task without a name. */
export const PROCESS = 'process';

/** Counters of a query: the `stats` in a response (docs/dev/wire-format.md#statistics). */
export interface QueryStatistics {
  /** Chunks whose records are in the time range. */
  chunksReferenced: number;
  /** Chunks of which pages were read. */
  chunksRead: number;
  pagesRead: number;
  /** Bytes read from the store or the records, as stored. */
  compressedBytes: number;
  /** Scanned bytes of lines and metadata, and scanned lines. */
  lineBytes: number;
  metadataBytes: number;
  lines: number;
  /** Lines left after filters. */
  postFilterLines: number;
  /** Entries dropped because another chunk contains them too. */
  duplicates: number;
  entriesReturned: number;
  streams: number;
  /** Nanoseconds spent on finding chunks and on reading pages. */
  chunkLookupNs: number;
  downloadNs: number;
  readonly plan: PlanStatistics;
  /** Tasks by the thread or function that ran each (TaskRunnerParts), or RAN_IN_CACHE. */
  readonly tasks: Record<string, number>;
}

export function newStatistics(): QueryStatistics {
  return {
    chunksReferenced: 0,
    chunksRead: 0,
    pagesRead: 0,
    compressedBytes: 0,
    lineBytes: 0,
    metadataBytes: 0,
    lines: 0,
    postFilterLines: 0,
    duplicates: 0,
    entriesReturned: 0,
    streams: 0,
    chunkLookupNs: 0,
    downloadNs: 0,
    plan: {
      chunks: 0,
      chunksBySketch: 0,
      chunksByStreams: 0,
      pages: 0,
      pageBytes: 0,
      pagesByStreams: 0,
      bytesByStreams: 0,
      pagesByText: 0,
      bytesByText: 0,
      pagesByValues: 0,
      bytesByValues: 0,
      pagesCounted: 0,
      bytesCounted: 0,
      filterReads: 0,
      filterBytes: 0,
    },
    tasks: {},
  };
}

/** Adds all counters of `from`. */
export function addStatistics(into: QueryStatistics, { plan, tasks, ...figures }: QueryStatistics): void {
  for (const name of namesOf(figures)) into[name] += figures[name];
  for (const name of namesOf(plan)) into.plan[name] += plan[name];
  for (const [ranIn, count] of Object.entries(tasks)) into.tasks[ranIn] = (into.tasks[ranIn] ?? 0) + count;
}

/** Returns the counters between two shares of 0 to 1, rounded. Adjacent shares add up to the counters. */
export function shareOf(all: QueryStatistics, from: number, to: number): QueryStatistics {
  const some = newStatistics();
  const { plan, tasks: _, ...figures } = all;
  const between = (figure: number) => Math.round(figure * to) - Math.round(figure * from);
  for (const name of namesOf(figures)) some[name] = between(figures[name]);
  for (const name of namesOf(plan)) some.plan[name] = between(plan[name]);
  return some;
}

function namesOf<Figures extends object>(figures: Figures): (keyof Figures)[] {
  return Object.keys(figures) as (keyof Figures)[];
}

/** Returns the counters that count again for a cached result: what was scanned, but not what was read. */
export function withoutReads(statistics: QueryStatistics): QueryStatistics {
  const plan = { ...statistics.plan, filterReads: 0, filterBytes: 0 };
  return {
    ...statistics,
    chunksRead: 0,
    pagesRead: 0,
    compressedBytes: 0,
    chunkLookupNs: 0,
    downloadNs: 0,
    plan,
    tasks: {},
  };
}
