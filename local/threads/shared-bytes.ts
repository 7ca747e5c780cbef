/**
 * One bound on the bytes that all threads of a role hold, without asking anybody: counters in memory that the threads share. A thread
 * leases bytes in larger parts, so that most of what it counts touches no shared memory:
 *
 *     total | leased by thread 0 | leased by thread 1 | ...      KiB, 32 bits each: up to 2 TiB
 *
 * The total never exceeds the bound. A thread that is alone can have all of it. What a lost thread had leased comes back when the
 * thread that watches it says so (`freeLost`).
 */
import type { BytePool } from '../../shared/base/model/byte-pool.ts';

/** Plain data, for messages to threads. */
export interface SharedCounters {
  readonly maxKib: number;
  readonly counters: Int32Array<SharedArrayBuffer>;
}

const KIB = 1024;
/** What a thread leases at least, if there is as much; while it holds anything it keeps up to twice that for what comes next. */
const LEASE_KIB = 1024;
const TOTAL = 0;
const MAX_KIB = 2 ** 31 - 1;

/** @param threads that lease, at most */
export function sharedCounters(maxBytes: number, threads: number): SharedCounters {
  const counters = new Int32Array(new SharedArrayBuffer((1 + threads) * Int32Array.BYTES_PER_ELEMENT));
  return { maxKib: Math.min(MAX_KIB, Math.floor(maxBytes / KIB)), counters };
}

/** All that is leased, bytes: what threads hold, and up to 2 MiB more of each. */
export function leasedBytes({ counters }: SharedCounters): number {
  return Atomics.load(counters, TOTAL) * KIB;
}

/** To be called when the thread has ended, and before another takes its place. */
export function freeLost({ counters }: SharedCounters, index: number): void {
  Atomics.sub(counters, TOTAL, Atomics.exchange(counters, 1 + index, 0));
}

/** What one thread holds. */
export class SharedBytes implements BytePool {
  readonly #shared: SharedCounters;
  readonly #place: number;
  #heldBytes = 0;
  #leasedKib = 0;

  /** @param index of the thread */
  constructor(shared: SharedCounters, index: number) {
    this.#shared = shared;
    this.#place = 1 + index;
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
    if (this.#heldBytes === 0) this.#giveBack(spareKib);
    else if (spareKib > 2 * LEASE_KIB) this.#giveBack(spareKib - LEASE_KIB);
  }

  #lease(missingKib: number): boolean {
    const { maxKib, counters } = this.#shared;
    for (;;) {
      const leased = Atomics.load(counters, TOTAL);
      const freeKib = maxKib - leased;
      if (missingKib > freeKib) return false;
      const kib = Math.min(freeKib, Math.max(missingKib, LEASE_KIB));
      if (Atomics.compareExchange(counters, TOTAL, leased, leased + kib) !== leased) continue;
      Atomics.add(counters, this.#place, kib);
      this.#leasedKib += kib;
      return true;
    }
  }

  #giveBack(kib: number): void {
    const { counters } = this.#shared;
    Atomics.sub(counters, this.#place, kib);
    Atomics.sub(counters, TOTAL, kib);
    this.#leasedKib -= kib;
  }
}
