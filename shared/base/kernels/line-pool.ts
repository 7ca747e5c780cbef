/**
 * Allocates slots of any size in line memory for pages whose lines stay cached, so that kernels work on them
 * in place. The pool only tracks which bytes are used. The cache decides which page to evict.
 *
 *     region of 16 MiB | region | region ...        at most `bytes` together, created when the others are full
 *
 * A process can return WebAssembly memory only as a whole, by a garbage collection. New lines fill regions in the order of
 * their pushes, and their chunks are deleted together after a merge. So whole regions become empty. Under a steady load the
 * next lines take them; a region that they do not take is returned without the lines of others.
 *
 * Pitfall: the next page overwrites a freed slot. Code that holds lines must look them up again after other
 * code may have allocated a page.
 */
import { SPACE_BYTES } from './line-memory.ts';
import { LineRegion } from './line-region.ts';

/** Granularity of the pool, bytes. */
const MEMORY_BYTES = 64 * 1024;
/** Twice the largest page: a quarter of the lines of a merge of pushes. */
const REGION_BYTES = 2 * SPACE_BYTES;
/** A region with a smaller share of its touched bytes in slots holds mostly unused memory. */
const MIN_USED_SHARE = 1 / 2;

interface ReleasedRegions {
  readonly hasReleased: boolean;
  readonly hasUnused: boolean;
}

export class LinePool {
  /** Maximum bytes of all regions. */
  readonly bytes: number;
  /** In the order of their creation, by buffer. */
  readonly #regions = new Map<ArrayBufferLike, LineRegion>();

  /** @param bytes Size of the pool; the operating system provides the memory on first use */
  constructor(bytes: number) {
    this.bytes = Math.max(0, bytes - (bytes % MEMORY_BYTES));
  }

  /** Releases all memory and invalidates all slots. */
  reset(): void {
    for (const region of this.#regions.values()) region.release();
    this.#regions.clear();
  }

  /** Bytes of the regions up to the end of their highest slots: approximately the memory in use. */
  get touchedBytes(): number {
    return this.#sum(({ touchedBytes }) => touchedBytes);
  }

  /** Bytes of all slots. */
  get usedBytes(): number {
    return this.#sum(({ usedBytes }) => usedBytes);
  }

  /** Allocates from the oldest region with a free range of at least `length` bytes; undefined if there is none. */
  take(length: number): Buffer | undefined {
    if (length === 0 || length > SPACE_BYTES) return undefined;
    for (const region of this.#regions.values()) {
      const slot = region.take(length);
      if (slot !== undefined) return slot;
    }
    return this.#begin()?.take(length);
  }

  /** Frees a slot that `take` returned. */
  give(slot: Buffer): void {
    this.#regions.get(slot.buffer)?.give(slot);
  }

  /**
   * Releases the memory of mostly unused regions of which no slot was taken since the last call. A garbage collection
   * then returns it.
   *
   * @param dropLines must give all slots of these buffers
   * @returns whether a region was released, and whether the pool has unused ones that a later call may release
   */
  releaseUnused(dropLines: (buffers: ReadonlySet<ArrayBufferLike>) => void): ReleasedRegions {
    const regions = [...this.#regions.values()];
    const untaken = new Set(regions.filter(region => !region.hasTaken()));
    const unused = regions.filter(({ usedBytes, touchedBytes }) => usedBytes < touchedBytes * MIN_USED_SHARE);
    const released = unused.filter(region => untaken.has(region));
    dropLines(new Set(released.map(({ buffer }) => buffer)));
    for (const region of released) {
      region.release();
      this.#regions.delete(region.buffer);
    }
    return { hasReleased: released.length > 0, hasUnused: unused.length > released.length };
  }

  /** Creates a region. Undefined if the pool has its size. */
  #begin(): LineRegion | undefined {
    const bytes = Math.min(REGION_BYTES, this.bytes - this.#sum(({ bytes: own }) => own));
    if (bytes <= 0) return undefined;
    try {
      const region = new LineRegion(bytes);
      this.#regions.set(region.buffer, region);
      return region;
    } catch {
      // On a small machine, pages are unpacked again, as without a pool.
      return undefined;
    }
  }

  #sum(bytesOf: (region: LineRegion) => number): number {
    let sum = 0;
    for (const region of this.#regions.values()) sum += bytesOf(region);
    return sum;
  }
}
