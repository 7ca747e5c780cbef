/** What metric and log queries share when they hand pages to workers. */

import type { MemoryBudget } from '../../../base/model/memory-budget.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { QueryStatistics } from '../statistics.ts';
import type { QueryWorkers } from './query-workers.ts';
import { FIGURE_NAMES, type TaskAnswer } from './task.ts';

/** What a query needs to hand work out. */
export interface SpreadParts {
  readonly workers: QueryWorkers;
  /** Tasks of the query at once, at most: `max_query_parallelism`. */
  readonly maxParallelism: number;
  readonly memory: MemoryBudget;
  readonly signal: AbortSignal;
  readonly statistics: QueryStatistics;
  /** Called with the bytes that a task has looked at; may throw. */
  readonly charge?: ((bytes: number) => void) | undefined;
}

/** A printed query must be read again: the parser takes up to 128 KiB, and escapes make it longer. */
export const MAX_PRINTED_LENGTH = 100_000;

/** As many as keep all workers busy while answers wait for their turn to be merged. */
export function widthOf({
  workers,
  maxParallelism,
}: Pick<SpreadParts, 'workers' | 'maxParallelism'>): number {
  return Math.max(1, Math.min(maxParallelism, 2 * workers.slots + 1));
}

/** Adds what tasks read to the statistics of their query; chunks count once, however many tasks read them. */
export class SpreadFigures {
  readonly #chunks = new Set<string>();
  readonly #parts: Pick<SpreadParts, 'statistics' | 'charge'>;

  constructor(parts: Pick<SpreadParts, 'statistics' | 'charge'>) {
    this.#parts = parts;
  }

  /** Throws what `charge` throws. */
  add({ place, figures }: Pick<TaskAnswer, 'place' | 'figures'>, records: readonly ChunkRecord[]): void {
    const { statistics, charge } = this.#parts;
    for (const name of FIGURE_NAMES) statistics[name] += figures[name];
    statistics.tasks[place] = (statistics.tasks[place] ?? 0) + 1;
    for (const { id } of records) this.#chunks.add(id);
    charge?.(figures.lineBytes + figures.metadataBytes);
  }

  finish(): void {
    this.#parts.statistics.chunksRead += this.#chunks.size;
    this.#chunks.clear();
  }
}
