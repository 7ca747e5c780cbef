/** What a query passed over and why, for `explain`; bytes are as stored. */
export interface PlanStatistics {
  /** Chunks that meet the time range, and those of them that the labels in the catalog rule out. */
  chunks: number;
  chunksBySketch: number;
  /** Chunks whose footers show no matching stream in the range. */
  chunksByStreams: number;
  /** Pages of the chunks whose footers were looked at. */
  pages: number;
  pageBytes: number;
  /** Pages without a matching stream in the range. */
  pagesByStreams: number;
  bytesByStreams: number;
  /** Pages that cannot hold the text that the query asks for. */
  pagesByText: number;
  bytesByText: number;
  /** Pages that pass those but cannot hold a value that a label filter asks for: of metadata or of a field. */
  pagesByValues: number;
  bytesByValues: number;
  /** Pages that the counts of footers answer for. */
  pagesCounted: number;
  bytesCounted: number;
  /** Of text filters. */
  filterReads: number;
  filterBytes: number;
}

/** The place of a query or task where nothing names it. */
export const PROCESS = 'process';

/** What a query read and returned: the counters behind the `stats` of an answer (docs/dev/wire-format.md#statistics). */
export interface QueryStatistics {
  /** Chunks whose records met the time range. */
  chunksReferenced: number;
  /** Chunks of which pages were read. */
  chunksRead: number;
  pagesRead: number;
  /** Bytes read from the store or the records, as stored. */
  compressedBytes: number;
  /** Bytes of lines and metadata, and lines, that were looked at. */
  lineBytes: number;
  metadataBytes: number;
  lines: number;
  /** Lines that were left after filters. */
  postFilterLines: number;
  /** Entries passed over because another chunk has them too. */
  duplicates: number;
  entriesReturned: number;
  streams: number;
  /** Nanoseconds spent on finding chunks and on reading pages. */
  chunkLookupNs: number;
  downloadNs: number;
  readonly plan: PlanStatistics;
  /** Tasks by the place that worked on each (TaskRunnerParts), or KEPT. */
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

/** Adds all that `from` counted. */
export function addStatistics(into: QueryStatistics, { plan, tasks, ...figures }: QueryStatistics): void {
  for (const name of namesOf(figures)) into[name] += figures[name];
  for (const name of namesOf(plan)) into.plan[name] += plan[name];
  for (const [place, count] of Object.entries(tasks)) into.tasks[place] = (into.tasks[place] ?? 0) + count;
}

function namesOf<Figures extends object>(figures: Figures): (keyof Figures)[] {
  return Object.keys(figures) as (keyof Figures)[];
}

/** What counts once more where a result is given again: what was looked at, and not that it was read. */
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
