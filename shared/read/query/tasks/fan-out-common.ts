/** Shared parts of metric and log queries that fan out pages to workers. */

import type { MemoryBudget } from '../../../base/model/memory-budget.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { QueryStatistics } from '../statistics.ts';
import type { QueryWorkers } from './query-workers.ts';
import { FIGURE_NAMES, type TaskAnswer } from './task.ts';

/** Parts of a query that fan-out needs. */
export interface FanOutParts {
  readonly workers: QueryWorkers;
  /** Maximum concurrent tasks of the query: `max_query_parallelism`. */
  readonly maxParallelism: number;
  readonly memory: MemoryBudget;
  readonly signal: AbortSignal;
  readonly statistics: QueryStatistics;
  /** Called with the bytes that a task has scanned. May throw. */
  readonly charge?: ((bytes: number) => void) | undefined;
  /** Called with the failure of a task. Returns true if the query continues without it. */
  readonly skips?: ((error: unknown) => boolean) | undefined;
}

/**
 * Maximum length of a printed query, which workers parse again: the parser accepts up to 128 KiB, and escapes
 * make it longer.
 */
export const MAX_PRINTED_LENGTH = 100_000;

/** Returns enough concurrent tasks to keep all workers busy while results wait to be merged. */
export function widthOf({
  workers,
  maxParallelism,
}: Pick<FanOutParts, 'workers' | 'maxParallelism'>): number {
  return Math.max(1, Math.min(maxParallelism, 2 * workers.slots + 1));
}

/**
 * Adds the reads of tasks to the statistics of their query. Chunks count once, however many tasks read them.
 */
export class FanOutFigures {
  readonly #chunks = new Set<string>();
  readonly #parts: Pick<FanOutParts, 'statistics' | 'charge'>;

  constructor(parts: Pick<FanOutParts, 'statistics' | 'charge'>) {
    this.#parts = parts;
  }

  /** Throws errors of `charge`. */
  add({ ranIn, figures }: Pick<TaskAnswer, 'ranIn' | 'figures'>, records: readonly ChunkRecord[]): void {
    const { statistics, charge } = this.#parts;
    for (const name of FIGURE_NAMES) statistics[name] += figures[name];
    statistics.tasks[ranIn] = (statistics.tasks[ranIn] ?? 0) + 1;
    for (const { id } of records) this.#chunks.add(id);
    charge?.(figures.lineBytes + figures.metadataBytes);
  }

  finish(): void {
    this.#parts.statistics.chunksRead += this.#chunks.size;
    this.#chunks.clear();
  }
}
