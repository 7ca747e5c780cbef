/**
 * Pools large buffers for reuse. V8 counts the bytes behind buffers, and runs a collection of the whole heap
 * for every few tens of megabytes of new ones. Without pooling, this took a quarter of the CPU time of an
 * ingest.
 */
import { freeWhole } from './free-bytes.ts';
import type { ClearableCache } from './idle-caches.ts';

/** Minimum size of a pooled buffer. Pooling smaller buffers saves too little. */
const MIN_POOLED_BYTES = 64 * 1024;
/**
 * The same for shared memory, which costs more: it is cleared, registered for all threads, and freed only after the
 * collectors of the threads that saw it have run. A request of 10 KB to another thread takes a third less CPU time with a
 * pooled body.
 */
const MIN_SHARED_BYTES = 4 * 1024;
/**
 * Size classes between a power of two and the next. With powers of two only, the pages of a merge (a little
 * over 256 KiB each) used twice their size.
 */
const SIZES_PER_DOUBLING = 4;

/** Pool whose unused memory can be freed. */
interface Pool {
  readonly heldBytes: number;
  /** Number of buffers that were taken from it so far. */
  readonly taken?: number;
  clear(): void;
  /** Frees buffers that were unused since the last call. Returns their number. */
  dropUnused?(): number;
}

/** All pools of this thread. */
const POOLS: Pool[] = [];

/**
 * Registers a pool, so that its unused memory is freed when the thread becomes idle. Pools live as long as
 * their thread.
 */
export function addPool(pool: Pool): void {
  POOLS.push(pool);
}

/** Frees the unused memory in all pools of this thread. */
export function freePooledBuffers(): void {
  for (const pool of POOLS) pool.clear();
}

/** Returns the size of the unused buffers in the pools of this thread, in bytes. */
export function pooledBytes(): number {
  return POOLS.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
}

/**
 * The pools of this thread as a cache, so that buffers of unusual work do not stay in a busy thread: after the merge of an
 * hour, which uses other sizes than merges of pushes, 34 MB did.
 */
export const POOLED_BUFFERS: ClearableCache = {
  get hits() {
    return POOLS.reduce((sum, { taken = 0 }) => sum + taken, 0);
  },
  misses: 0,
  clear: freePooledBuffers,
  dropUnused: () => POOLS.reduce((sum, pool) => sum + (pool.dropUnused?.() ?? 0), 0),
};

/** Unused buffers of one size. */
interface FreeBuffers {
  readonly buffers: Buffer[];
  /** Lowest number of them since `dropUnused`. */
  least: number;
}

interface PoolOptions {
  readonly isShared?: boolean;
  readonly minBytes?: number;
}

/** Pools live as long as their thread. */
export class BufferPool implements Pool {
  readonly #free = new Map<number, FreeBuffers>();
  #held = 0;
  #taken = 0;
  readonly #maxBytes: number;
  readonly #isShared: boolean;
  readonly #minBytes: number;
  /**
   * Memory of this pool that is in use. Node.js cuts small buffers from its own slabs, which may have the
   * size of a pooled buffer.
   */
  readonly #used = new WeakSet<ArrayBufferLike>();

  /**
   * @param maxBytes Maximum bytes of unused buffers; buffers that are returned beyond it are freed
   * @param isShared Allocates shared memory, which other threads read without a copy
   * @param minBytes Minimum size of a pooled buffer
   */
  constructor(maxBytes: number, { isShared = false, minBytes }: PoolOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#isShared = isShared;
    this.#minBytes = minBytes ?? (isShared ? MIN_SHARED_BYTES : MIN_POOLED_BYTES);
    addPool(this);
  }

  /** Total size of unused buffers, in bytes. */
  get heldBytes(): number {
    return this.#held;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Frees all unused buffers. */
  clear(): void {
    for (const { buffers } of this.#free.values()) for (const buffer of buffers) freeWhole(buffer);
    this.#free.clear();
    this.#held = 0;
  }

  dropUnused(): number {
    let dropped = 0;
    for (const [size, free] of this.#free) {
      for (const buffer of free.buffers.splice(0, free.least)) freeWhole(buffer);
      dropped += free.least;
      this.#held -= free.least * size;
      free.least = free.buffers.length;
      if (free.least === 0) this.#free.delete(size);
    }
    return dropped;
  }

  /** Returns a buffer of exactly `bytes`. It is not cleared: it contains data of its last user. */
  take(bytes: number): Buffer {
    if (bytes < this.#minBytes) return this.#allocate(bytes);
    const size = sizeFor(bytes);
    const free = this.#free.get(size);
    const buffer = free?.buffers.pop();
    this.#taken++;
    if (free === undefined || buffer === undefined) return this.#allocate(size).subarray(0, bytes);
    free.least = Math.min(free.least, free.buffers.length);
    this.#held -= size;
    this.#used.add(buffer.buffer);
    return buffer.subarray(0, bytes);
  }

  #allocate(bytes: number): Buffer {
    const buffer = this.#isShared ? Buffer.from(new SharedArrayBuffer(bytes)) : Buffer.allocUnsafeSlow(bytes);
    if (bytes >= this.#minBytes) this.#used.add(buffer.buffer);
    return buffer;
  }

  /**
   * Returns a buffer to the pool. Ignores buffers that `take` did not return, that were returned before, or that are too small, and
   * returns false for them. Neither the caller nor anything that received the buffer may use it afterward.
   */
  give(buffer: Uint8Array): boolean {
    if (!this.#used.delete(buffer.buffer)) return false;
    const size = buffer.buffer.byteLength;
    if (this.#held + size > this.#maxBytes) {
      freeWhole(buffer);
      return true;
    }
    const free = this.#free.get(size);
    const whole = Buffer.from(buffer.buffer, 0, size);
    if (free === undefined) this.#free.set(size, { buffers: [whole], least: 0 });
    else free.buffers.push(whole);
    this.#held += size;
    return true;
  }
}

function sizeFor(bytes: number): number {
  const step = 2 ** Math.floor(Math.log2(bytes)) / SIZES_PER_DOUBLING;
  return Math.ceil(bytes / step) * step;
}
