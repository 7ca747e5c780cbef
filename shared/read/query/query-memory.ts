/**
 * Memory budget of all queries of one process, and of each of them. Tasks for queries of other threads count,
 * too. In addition to what a running query counts (states, series, entries), each query is charged a fixed
 * amount for its plan and its current pages.
 */

import { type BytePool, bytePool } from '../../base/model/byte-pool.ts';
import { ClientError } from '../../base/model/errors.ts';
import { MemoryBudget, type SharedMemory } from '../../base/model/memory-budget.ts';

/**
 * Fixed charge: pages that are read ahead, decoded columns of one, plan. 5 pages of up to 1 MiB, most of them
 * smaller.
 */
const BASE_BYTES = 8 * 1024 * 1024;
/**
 * Maximum of one query, twice that of one range aggregation: a query has several, with their results in
 * memory together.
 */
export const MAX_QUERY_MEMORY_BYTES = 512 * 1024 * 1024;
export const DEFAULT_QUERY_MEMORY_BYTES = 1024 * 1024 * 1024;

export class QueryMemory implements SharedMemory {
  readonly #maxBytes: number;
  readonly #pool: BytePool;
  #held = 0;
  /** Number of refused queries. */
  refused = 0;

  /** @param pool pool of that size; default: a separate one */
  constructor(maxBytes = DEFAULT_QUERY_MEMORY_BYTES, pool: BytePool = bytePool(maxBytes)) {
    this.#maxBytes = maxBytes;
    this.#pool = pool;
  }

  /** Bytes held by queries and tasks of this thread. */
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

  /** Runs a query with its own budget, which is released however the query ends. Throws ClientError 429. */
  async query<T>(run: (memory: MemoryBudget) => Promise<T>): Promise<T> {
    const memory = new MemoryBudget(Math.min(MAX_QUERY_MEMORY_BYTES, this.#maxBytes), undefined, this);
    try {
      memory.reserve(Math.min(BASE_BYTES, memory.maxBytes));
      return await run(memory);
    } finally {
      memory.releaseAll();
    }
  }
}
