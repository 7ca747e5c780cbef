/**
 * Readers of objects in all threads of a process, in memory that the threads share:
 *
 *     epoch | oldest reader of thread 0 | oldest reader of thread 1 | ...      32 bits each
 *
 * A reader has the epoch in which it began; 0 in place of a thread's oldest one says that it has none. Whoever wants to delete begins a
 * new epoch: it may, once the oldest reader of every thread is of this epoch or a later one. A reader notes its epoch before it reads
 * the catalog. If the note comes too late to be seen, the catalog that it reads has the newer state.
 */
/** Plain data, for messages to threads. */
export type SharedReaders = Int32Array<SharedArrayBuffer>;

const EPOCH = 0;
const FIRST_EPOCH = 1;
const NOBODY = 0;

/** @param threads that read, at most */
export function sharedReaders(threads: number): SharedReaders {
  const readers = new Int32Array(new SharedArrayBuffer((1 + threads) * Int32Array.BYTES_PER_ELEMENT));
  readers[EPOCH] = FIRST_EPOCH;
  return readers;
}

/** Begins a new epoch. One every ten seconds, 32 bits are enough for centuries. */
export function newEpoch(readers: SharedReaders): number {
  return Atomics.add(readers, EPOCH, 1) + 1;
}

/** Whether every reader that runs has begun in `epoch` or later. */
export function haveAllBegunIn(readers: SharedReaders, epoch: number): boolean {
  for (let place = 1; place < readers.length; place++) {
    const oldest = Atomics.load(readers, place);
    if (oldest !== NOBODY && oldest < epoch) return false;
  }
  return true;
}

/** To be called when the thread has ended, and before another takes its place. */
export function forgetLost(readers: SharedReaders, index: number): void {
  Atomics.store(readers, 1 + index, NOBODY);
}

/** The readers of one thread. */
export class ThreadReaders {
  readonly #shared: SharedReaders;
  readonly #place: number;
  /** How many of each epoch are open, the oldest first. */
  readonly #open = new Map<number, number>();

  /** @param index of the thread */
  constructor(shared: SharedReaders, index: number) {
    this.#shared = shared;
    this.#place = 1 + index;
  }

  /** To be called before anything of the catalog is read. The function that it returns says that the reader has ended. */
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

  /** Settles as `work` does, which reads meanwhile. */
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
    Atomics.store(this.#shared, this.#place, oldest);
  }
}
