/**
 * Memory for the lines of pages that are kept, cut into slots of any size, so that the loops of `vector-code.ts` work on them
 * where they lie. It owns which bytes are taken, not whose they are: what to give up for a new page is the cache's to say.
 *
 * What a reader would get wrong: a slot that was freed is overwritten by the next page, so who holds lines must ask again
 * after anybody else had a page.
 */
import { createLineMemory, SPACE_BYTES } from './line-memory.ts';

/** Slots begin at multiples of this: less than 1% of a page is lost. */
const GRAIN_BYTES = 4096;
/** Memory comes in pieces of this. */
const MEMORY_BYTES = 64 * 1024;

export class LinePool {
  #memory: Buffer;
  /** Stretches that are free, ascending, never side by side. */
  #free: { start: number; end: number }[];
  #touchedBytes = 0;

  /** @param bytes none of which is taken from the machine before it is used; where it has no such memory, the pool is empty */
  constructor(bytes: number) {
    this.#memory = memoryOf(bytes);
    this.#free = freeIn(this.#memory);
  }

  /** Begins anew with fresh memory: memory of WebAssembly that was used once leaves the process only as a whole. Slots become void. */
  reset(): void {
    this.#memory = memoryOf(this.#memory.length);
    this.#free = freeIn(this.#memory);
    this.#touchedBytes = 0;
  }

  /** Bytes up to the end of the highest slot since the last reset: about what the memory takes from the machine. */
  get touchedBytes(): number {
    return this.#touchedBytes;
  }

  get bytes(): number {
    return this.#memory.length;
  }

  /** `length` bytes that are nobody's else's, undefined where no free stretch is so long. The first that fits is taken. */
  take(length: number): Buffer | undefined {
    const needed = sizeOf(length);
    if (length === 0 || length > SPACE_BYTES) return undefined;
    const place = this.#free.findIndex(({ start, end }) => end - start >= needed);
    if (place < 0) return undefined;
    const stretch = this.#free[place];
    const { start } = stretch;
    stretch.start += needed;
    if (stretch.start === stretch.end) this.#free.splice(place, 1);
    this.#touchedBytes = Math.max(this.#touchedBytes, start + needed);
    return this.#memory.subarray(start, start + length);
  }

  /** Gives back what `take` gave. */
  give(slot: Buffer): void {
    const start = slot.byteOffset - this.#memory.byteOffset;
    const end = start + sizeOf(slot.length);
    const free = this.#free;
    let place = free.findIndex(stretch => stretch.start >= end);
    if (place < 0) place = free.length;
    free.splice(place, 0, { start, end });
    if (place + 1 < free.length && free[place + 1].start === end) {
      free[place].end = free[place + 1].end;
      free.splice(place + 1, 1);
    }
    if (place > 0 && free[place - 1].end === start) {
      free[place - 1].end = free[place].end;
      free.splice(place, 1);
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
    // A small machine: pages are unpacked again, as without a pool.
    return Buffer.alloc(0);
  }
}
