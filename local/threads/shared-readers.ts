/**
 * Readers of objects in all threads of a process, in shared memory:
 *
 *     epoch | oldest reader of thread 0 | oldest reader of thread 1 | ...      32 bits each
 *
 * A reader has the epoch in which it started. 0 as a thread's oldest reader means that it has none. A thread
 * that wants to delete starts a new epoch. It may delete when the oldest reader of every thread is of this
 * epoch or a later one. A reader writes its epoch before it reads the catalog. If the write comes too late to
 * be seen, the reader sees the newer catalog.
 */
/** Plain data, for messages to threads. */
export type SharedReaders = Int32Array<SharedArrayBuffer>;

const EPOCH = 0;
const FIRST_EPOCH = 1;
const NOBODY = 0;

/** @param threads maximum number of threads that read */
export function sharedReaders(threads: number): SharedReaders {
  const readers = new Int32Array(new SharedArrayBuffer((1 + threads) * Int32Array.BYTES_PER_ELEMENT));
  readers[EPOCH] = FIRST_EPOCH;
  return readers;
}

/** Starts a new epoch. With one every ten seconds, 32 bits suffice for centuries. */
export function newEpoch(readers: SharedReaders): number {
  return Atomics.add(readers, EPOCH, 1) + 1;
}

/** True if every running reader started in `epoch` or later. */
export function haveAllBegunIn(readers: SharedReaders, epoch: number): boolean {
  for (let slot = 1; slot < readers.length; slot++) {
    const oldest = Atomics.load(readers, slot);
    if (oldest !== NOBODY && oldest < epoch) return false;
  }
  return true;
}

/** Call it after the thread has ended, before another gets its index. */
export function forgetLost(readers: SharedReaders, index: number): void {
  Atomics.store(readers, 1 + index, NOBODY);
}

/** Readers of one thread. */
export class ThreadReaders {
  readonly #shared: SharedReaders;
  readonly #slot: number;
  /** Number of open readers per epoch, oldest first. */
  readonly #open = new Map<number, number>();

  /** @param index index of the thread */
  constructor(shared: SharedReaders, index: number) {
    this.#shared = shared;
    this.#slot = 1 + index;
  }

  /**
   * Starts a reader. Call it before reading anything of the catalog. Call the returned function when the
   * reader ends.
   */
  begin(): () => void {
    const epoch = Atomics.load(this.#shared, EPOCH);
    this.#open.set(epoch, (this.#open.get(epoch) ?? 0) + 1);
    this.#note();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = this.#open.get(epoch)! - 1;
      if (left > 0) this.#open.set(epoch, left);
      else this.#open.delete(epoch);
      this.#note();
    };
  }

  /** Runs `work` as a reader and settles like it. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  #note(): void {
    const [oldest = NOBODY] = this.#open.keys();
    Atomics.store(this.#shared, this.#slot, oldest);
  }
}
