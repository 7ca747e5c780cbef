/**
 * Encodes what a query considered, pruned and read, for `explain=true`. Only Logboom has this, under
 * `data.explain`. Bytes are as stored. Pages read twice, to distinguish equal entries of two chunks, count
 * twice.
 */
import type { QueryAnswer } from '../../read/query/engine.ts';
import type { PartRounds, ReadRound } from '../../read/query/read-rounds.ts';

export interface Explained {
  readonly chunks: Readonly<Record<'considered' | 'prunedByLabels' | 'prunedByStreams' | 'read', number>>;
  readonly pages: ExplainedPages;
  readonly bytes: ExplainedPages;
  readonly textFilters: Readonly<Record<'reads' | 'bytes', number>>;
  /** Thread or function that planned the query, and scanned what no task did. */
  readonly ranIn: string;
  /** Reads of that thread or function from a remote store, by round; absent for local files. */
  readonly rounds?: readonly ReadRound[];
  /** Tasks with a remote store, up to 100, each with its rounds; absent without tasks. */
  readonly parts?: readonly PartRounds[];
  /** Tasks of the query, by the thread or function that ran them; absent without tasks. */
  readonly tasks?: Readonly<Record<string, number>>;
}

type ExplainedPages = Readonly<
  Record<
    'considered' | 'prunedByStreams' | 'prunedByText' | 'prunedByValues' | 'answeredByFooters' | 'read',
    number
  >
>;

export function encodeExplain({
  statistics,
  ranIn,
  rounds,
  parts = [],
}: Pick<QueryAnswer, 'statistics' | 'ranIn' | 'rounds' | 'parts'>): Explained {
  const { plan, tasks, chunksRead, pagesRead, compressedBytes } = statistics;
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
    ranIn,
    ...(rounds !== undefined && { rounds }),
    ...(parts.length > 0 && { parts }),
    ...(Object.keys(tasks).length > 0 && { tasks }),
  };
}
