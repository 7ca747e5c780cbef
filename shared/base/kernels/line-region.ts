/** One memory of a pool (line-pool.ts): allocates slots from the first free range that is large enough. */
import { createLineMemory, releaseLineMemory } from './line-memory.ts';

/** Alignment of slots, bytes; wastes less than 1% of a page. */
const GRAIN_BYTES = 4096;

export class LineRegion {
  /** Size of the memory for slots. */
  readonly bytes: number;
  readonly #memory: Buffer<ArrayBuffer>;
  /** Free ranges, ascending and never adjacent. */
  readonly #free: { start: number; end: number }[];
  #touchedBytes = 0;
  #usedBytes = 0;
  #hasTaken = false;

  /** Throws RangeError if the memory cannot be reserved. */
  constructor(bytes: number) {
    this.bytes = bytes;
    this.#memory = createLineMemory(bytes);
    this.#free = [{ start: 0, end: bytes }];
  }

  /** Identifies the region: slots are views of this buffer. */
  get buffer(): ArrayBuffer {
    return this.#memory.buffer;
  }

  /** End of the highest slot so far, bytes: approximately the memory that the system has provided. */
  get touchedBytes(): number {
    return this.#touchedBytes;
  }

  /** Bytes of all slots. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Whether a slot was taken since the last call. */
  hasTaken(): boolean {
    const hasTaken = this.#hasTaken;
    this.#hasTaken = false;
    return hasTaken;
  }

  take(length: number): Buffer | undefined {
    const needed = sizeOf(length);
    const index = this.#free.findIndex(({ start, end }) => end - start >= needed);
    if (index < 0) return undefined;
    const range = this.#free[index];
    const { start } = range;
    range.start += needed;
    if (range.start === range.end) this.#free.splice(index, 1);
    this.#touchedBytes = Math.max(this.#touchedBytes, start + needed);
    this.#usedBytes += needed;
    this.#hasTaken = true;
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

  /** Allows the collection of the memory. Its slots must not be used any more. */
  release(): void {
    releaseLineMemory(this.#memory);
  }
}

function sizeOf(length: number): number {
  return Math.ceil(length / GRAIN_BYTES) * GRAIN_BYTES;
}
