/**
 * The disk of a data directory: whether it takes new entries. A small file is kept in reserve. When the disk is full, pushes are
 * refused and the file is given up, so that there is space for what frees more: delete requests, retention, the log of SQLite.
 *
 *     ok --(little space left, or a write failed)--> full, read-only
 *      ^                                                   |
 *      +-----------(the reserve could be written)----------+
 *
 * Free space is looked at every CHECK_MS if it is small, and as rarely as every MAX_CHECK_MS if nothing can use it up before. A quota is not
 * seen there: its errors are (`note`), and that the reserve can be written.
 */
import type { Clock } from '../shared/base/ports/clock.ts';
import { type StorageProblem, storageMessage } from '../shared/base/ports/storage-unavailable.ts';
import { storageProblemOf } from './disk-errors.ts';

/** What a disk is asked. All of these reject with errors of the file system. */
export interface DiskPort {
  space(): Promise<DiskSpace>;
  /** Whether the reserve is there; rejects where it could not be written. */
  hasReserve(): Promise<boolean>;
  writeReserve(bytes: number): Promise<void>;
  /** Without effect where it is not there. */
  removeReserve(): Promise<void>;
}

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export type DiskProblem = Exclude<StorageProblem, 'failing'>;

export interface DiskParts {
  readonly port: DiskPort;
  readonly clock: Clock;
}

/**
 * SQLite needs 0.6 MB to open and to commit, a delete request some KB. Deleting whole chunks needs no more; for rewriting chunks
 * there is what pushes leave (MIN_FREE_BYTES), and what has been deleted.
 */
const RESERVE_BYTES = 4 * 1024 * 1024;
/** Pushes are refused below. A merge's output has 128 MB at most, usually some. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
/** Both are no more than this of a small disk. */
const MAX_SHARE = 0.05;
/** Pushes are taken again above so much of what they are refused below: not one by one at the brink. */
const ENOUGH_FACTOR = 1.5;
export const CHECK_MS = 2_000;
/** An idle store wakes up for it: every 2 s it took 0.2% of a core. */
export const MAX_CHECK_MS = 30_000;
/** No disk of one machine is filled faster: 4 GB/s. */
const MAX_FILL_BYTES_PER_MS = 4_000_000;
const LOOKS_BETWEEN_TRIES = 4;

export class Disk {
  readonly #parts: DiskParts;
  #found: DiskProblem | undefined;
  #onChange: (problem: DiskProblem | undefined) => void = () => undefined;
  #checking: Promise<void> | undefined;
  /** Looks before the reserve is written again: each try takes the space of a quota from everything else for a moment. */
  #looksToWait = 0;
  /** Bytes that can be written before the disk counts as full, as of the last look. */
  #spareBytes = 0;
  /** Ends the pause before the next look. */
  #changed: AbortController | undefined;

  constructor(parts: DiskParts) {
    this.#parts = parts;
  }

  /** Why the disk takes no new entries; undefined where it does. */
  get problem(): DiskProblem | undefined {
    return this.#found;
  }

  /** For clients; undefined where the disk takes new entries. */
  get message(): string | undefined {
    return this.#found === undefined ? undefined : storageMessage(this.#found);
  }

  /** `listener` is told when the disk ceases to take new entries and when it takes them again, instead of any before it. */
  tell(listener: (problem: DiskProblem | undefined) => void): void {
    this.#onChange = listener;
  }

  /** A write has failed: the disk may be the reason. */
  note(error: unknown): void {
    const problem = storageProblemOf(error);
    if (problem !== undefined && problem !== 'failing') void this.#becomes(problem);
  }

  /** Looks at the disk. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Looks at the disk again and again. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const changed = new AbortController();
      this.#changed = changed;
      const either = AbortSignal.any([changed.signal, signal]);
      await this.#parts.clock.sleep(this.#pauseMs(), either).catch(() => undefined);
      // A write has failed during a long pause: from now on the pauses are short.
      if (!either.aborted) await this.check();
    }
  }

  #pauseMs(): number {
    if (this.#found !== undefined) return CHECK_MS;
    return Math.min(Math.max(this.#spareBytes / MAX_FILL_BYTES_PER_MS, CHECK_MS), MAX_CHECK_MS);
  }

  async #look(): Promise<void> {
    const { port } = this.#parts;
    this.#spareBytes = 0;
    try {
      const { freeBytes, totalBytes } = await port.space();
      const share = totalBytes * MAX_SHARE;
      const minFree = Math.min(MIN_FREE_BYTES, share);
      this.#spareBytes = freeBytes - minFree;
      const reserve = Math.ceil(Math.min(RESERVE_BYTES, share));
      if (this.#found === undefined) {
        const isThere = await port.hasReserve();
        if (freeBytes < minFree) await this.#becomes('full');
        else if (!isThere) await port.writeReserve(reserve);
      } else if (freeBytes >= minFree * ENOUGH_FACTOR + reserve && --this.#looksToWait < 0) {
        this.#looksToWait = LOOKS_BETWEEN_TRIES;
        // Proves that a quota is not used up, and that the folder can be written.
        await port.writeReserve(reserve);
        await this.#becomes(undefined);
      }
    } catch (error) {
      const problem = storageProblemOf(error);
      // Any other error shows itself where it does harm.
      if (problem !== undefined && problem !== 'failing') await this.#becomes(problem);
    }
  }

  async #becomes(problem: DiskProblem | undefined): Promise<void> {
    const isNew = this.#found !== problem;
    this.#found = problem;
    if (isNew) {
      this.#looksToWait = 0;
      this.#changed?.abort();
    }
    // Also what was written of it in part.
    if (problem === 'full') await this.#parts.port.removeReserve().catch(() => undefined);
    if (isNew) this.#onChange(problem);
  }
}
