/**
 * What a query looked at, passed over and read, for `explain=true`: ours alone, under `data.explain`. Bytes are as stored.
 * Pages that were read twice (to tell equal entries of two chunks apart) count twice.
 */
import type { QueryStatistics } from '../query/statistics.ts';

export interface Explained {
  readonly chunks: Readonly<Record<'considered' | 'prunedByLabels' | 'prunedByStreams' | 'read', number>>;
  readonly pages: PageFigures;
  readonly bytes: PageFigures;
  readonly textFilters: Readonly<Record<'reads' | 'bytes', number>>;
}

type PageFigures = Readonly<
  Record<
    'considered' | 'prunedByStreams' | 'prunedByText' | 'prunedByValues' | 'answeredByFooters' | 'read',
    number
  >
>;

export function explain({ plan, chunksRead, pagesRead, compressedBytes }: QueryStatistics): Explained {
  return {
    chunks: {
      considered: plan.chunks,
      prunedByLabels: plan.chunksBySketch,
      prunedByStreams: plan.chunksByStreams,
      read: chunksRead,
    },
    pages: {
      considered: plan.pages,
      prunedByStreams: plan.pagesByStreams,
      prunedByText: plan.pagesByText,
      prunedByValues: plan.pagesByValues,
      answeredByFooters: plan.pagesCounted,
      read: pagesRead,
    },
    bytes: {
      considered: plan.pageBytes,
      prunedByStreams: plan.bytesByStreams,
      prunedByText: plan.bytesByText,
      prunedByValues: plan.bytesByValues,
      answeredByFooters: plan.bytesCounted,
      read: compressedBytes,
    },
    textFilters: { reads: plan.filterReads, bytes: plan.filterBytes },
  };
}
