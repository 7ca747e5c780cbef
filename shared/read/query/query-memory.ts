/**
 * What the queries of one process hold together, and what one of them may; tasks of queries of other threads count, too. Beside what a query counts while it runs (states,
 * series, entries) it is taken to need a fixed amount for its plan and for the pages that it is at.
 */

import { type BytePool, bytePool } from '../../base/model/byte-pool.ts';
import { ClientError } from '../../base/model/errors.ts';
import { MemoryBudget, type SharedMemory } from '../../base/model/memory-budget.ts';

/** Pages that are read ahead, decoded columns of one, plan: 5 pages of up to 1 MiB, most of them smaller. */
const BASE_BYTES = 8 * 1024 * 1024;
/** Twice what one range aggregation may hold: a query has several, and their results beside each other. */
export const MAX_QUERY_BYTES = 512 * 1024 * 1024;
export const DEFAULT_QUERY_MEMORY_BYTES = 1024 * 1024 * 1024;

export class QueryMemory implements SharedMemory {
  readonly #maxBytes: number;
  readonly #pool: BytePool;
  #held = 0;
  /** Queries that were refused. */
  refused = 0;

  /** @param pool that holds so many bytes; default: one of its own */
  constructor(maxBytes = DEFAULT_QUERY_MEMORY_BYTES, pool: BytePool = bytePool(maxBytes)) {
    this.#maxBytes = maxBytes;
    this.#pool = pool;
  }

  /** Held by queries and tasks of this thread. */
  get usedBytes(): number {
    return this.#held;
  }

  /** Throws ClientError 429. */
  reserve(bytes: number): void {
    if (!this.#pool.take(bytes)) {
      this.refused++;
      throw new ClientError(
        429,
        `memory limit for concurrent queries exceeded (limit: ${this.#maxBytes} bytes); retry later`,
      );
    }
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
    this.#pool.give(bytes);
  }

  /** Runs a query with a budget of its own, which is given back however it ends. Throws ClientError 429. */
  async query<T>(run: (memory: MemoryBudget) => Promise<T>): Promise<T> {
    const memory = new MemoryBudget(Math.min(MAX_QUERY_BYTES, this.#maxBytes), undefined, this);
    try {
      memory.reserve(Math.min(BASE_BYTES, memory.maxBytes));
      return await run(memory);
    } finally {
      memory.releaseAll();
    }
  }
}
