/**
 * Allocates slots of any size in line memory for pages whose lines stay cached, so that kernels work on them
 * in place. The pool only tracks which bytes are used. The cache decides which page to evict.
 *
 * Pitfall: the next page overwrites a freed slot. Code that holds lines must look them up again after other
 * code may have allocated a page.
 */
import { createLineMemory, releaseLineMemory, SPACE_BYTES } from './line-memory.ts';

/** Alignment of slots, bytes; wastes less than 1% of a page. */
const GRAIN_BYTES = 4096;
/** Granularity of the pool, bytes. */
const MEMORY_BYTES = 64 * 1024;

export class LinePool {
  #memory: Buffer;
  /** Free ranges, ascending and never adjacent. */
  #free: { start: number; end: number }[];
  #touchedBytes = 0;
  #usedBytes = 0;

  /**
   * @param bytes Size of the pool; the operating system provides the memory on first use. If it cannot be
   * reserved, the pool is empty.
   */
  constructor(bytes: number) {
    this.#memory = memoryOf(bytes);
    this.#free = freeIn(this.#memory);
  }

  /**
   * Replaces the memory and invalidates all slots. The process can return WebAssembly memory to the operating
   * system only as a whole.
   */
  reset(): void {
    releaseLineMemory(this.#memory);
    this.#memory = memoryOf(this.#memory.length);
    this.#free = freeIn(this.#memory);
    this.#touchedBytes = 0;
    this.#usedBytes = 0;
  }

  /** End of the highest slot since the last reset, bytes: approximately the memory in use. */
  get touchedBytes(): number {
    return this.#touchedBytes;
  }

  /** Bytes of all slots. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  get bytes(): number {
    return this.#memory.length;
  }

  /** Allocates from the first free range of at least `length` bytes; undefined if there is none. */
  take(length: number): Buffer | undefined {
    const needed = sizeOf(length);
    if (length === 0 || length > SPACE_BYTES) return undefined;
    const index = this.#free.findIndex(({ start, end }) => end - start >= needed);
    if (index < 0) return undefined;
    const range = this.#free[index];
    const { start } = range;
    range.start += needed;
    if (range.start === range.end) this.#free.splice(index, 1);
    this.#touchedBytes = Math.max(this.#touchedBytes, start + needed);
    this.#usedBytes += needed;
    return this.#memory.subarray(start, start + length);
  }

  /** Frees a slot that `take` returned. */
  give(slot: Buffer): void {
    const start = slot.byteOffset - this.#memory.byteOffset;
    const end = start + sizeOf(slot.length);
    this.#usedBytes -= end - start;
    const free = this.#free;
    let index = free.findIndex(range => range.start >= end);
    if (index < 0) index = free.length;
    free.splice(index, 0, { start, end });
    if (index + 1 < free.length && free[index + 1].start === end) {
      free[index].end = free[index + 1].end;
      free.splice(index + 1, 1);
    }
    if (index > 0 && free[index - 1].end === start) {
      free[index - 1].end = free[index].end;
      free.splice(index, 1);
    }
  }
}

function freeIn(memory: Buffer): { start: number; end: number }[] {
  return memory.length === 0 ? [] : [{ start: 0, end: memory.length }];
}

function sizeOf(length: number): number {
  return Math.ceil(length / GRAIN_BYTES) * GRAIN_BYTES;
}

function memoryOf(bytes: number): Buffer {
  const whole = bytes - (bytes % MEMORY_BYTES);
  if (whole <= 0) return Buffer.alloc(0);
  try {
    return createLineMemory(whole);
  } catch {
    // On a small machine, pages are unpacked again, as without a pool.
    return Buffer.alloc(0);
  }
}
