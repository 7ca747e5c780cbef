/**
 * One limit for the bytes of all threads of a role, without messages: counters in shared memory. A thread
 * leases bytes in larger amounts, so that most counting needs no shared memory:
 *
 *     total | leased by thread 0 | leased by thread 1 | ...      KiB, 32 bits each: up to 2 TiB
 *
 * The total never exceeds the limit. A single active thread can use all of it. The thread that watches a lost
 * thread releases its lease (`freeLost`).
 */
import type { BytePool } from '../../shared/base/model/byte-pool.ts';

/** Plain data, for messages to threads. */
export interface SharedCounters {
  readonly maxKib: number;
  readonly counters: Int32Array<SharedArrayBuffer>;
}

const KIB = 1024;
/**
 * Minimum size of a lease, if available. While a thread holds bytes, it keeps up to twice this for later use.
 */
const LEASE_KIB = 1024;
const TOTAL = 0;
const MAX_KIB = 2 ** 31 - 1;

/** @param threads maximum number of threads that lease */
export function sharedCounters(maxBytes: number, threads: number): SharedCounters {
  const counters = new Int32Array(new SharedArrayBuffer((1 + threads) * Int32Array.BYTES_PER_ELEMENT));
  return { maxKib: Math.min(MAX_KIB, Math.floor(maxBytes / KIB)), counters };
}

/** All leased bytes: what threads hold, and up to 2 MiB more per thread. */
export function leasedBytes({ counters }: SharedCounters): number {
  return Atomics.load(counters, TOTAL) * KIB;
}

/** Call it after the thread has ended, before another gets its index. */
export function freeLost({ counters }: SharedCounters, index: number): void {
  Atomics.sub(counters, TOTAL, Atomics.exchange(counters, 1 + index, 0));
}

/** Bytes of one thread. */
export class SharedBytes implements BytePool {
  readonly #shared: SharedCounters;
  readonly #slot: number;
  #heldBytes = 0;
  #leasedKib = 0;

  /** @param index index of the thread */
  constructor(shared: SharedCounters, index: number) {
    this.#shared = shared;
    this.#slot = 1 + index;
  }

  take(bytes: number): boolean {
    const missingKib = Math.ceil((this.#heldBytes + bytes) / KIB) - this.#leasedKib;
    if (missingKib > 0 && !this.#lease(missingKib)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes;
    const spareKib = this.#leasedKib - Math.ceil(this.#heldBytes / KIB);
    if (this.#heldBytes === 0) this.#release(spareKib);
    else if (spareKib > 2 * LEASE_KIB) this.#release(spareKib - LEASE_KIB);
  }

  #lease(missingKib: number): boolean {
    const { maxKib, counters } = this.#shared;
    for (;;) {
      const leased = Atomics.load(counters, TOTAL);
      const freeKib = maxKib - leased;
      if (missingKib > freeKib) return false;
      const kib = Math.min(freeKib, Math.max(missingKib, LEASE_KIB));
      if (Atomics.compareExchange(counters, TOTAL, leased, leased + kib) !== leased) continue;
      Atomics.add(counters, this.#slot, kib);
      this.#leasedKib += kib;
      return true;
    }
  }

  #release(kib: number): void {
    const { counters } = this.#shared;
    Atomics.sub(counters, this.#slot, kib);
    Atomics.sub(counters, TOTAL, kib);
    this.#leasedKib -= kib;
  }
}
