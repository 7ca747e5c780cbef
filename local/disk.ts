/**
 * Watches whether the disk of a data directory accepts new entries. A small reserve file exists on the disk.
 * When the disk is full, pushes are refused and the reserve is deleted. This leaves space for work that frees
 * more: delete requests, retention, and the write-ahead log of SQLite.
 *
 *     ok --(little free space, or a write failed)--> full, read-only
 *      ^                                                   |
 *      +-----------(the reserve was written again)---------+
 *
 * Free space is checked every CHECK_MS. It does not reveal quotas. Those show in failed writes (`noteError`)
 * and in whether the reserve can be written.
 */
import type { Clock } from '../shared/base/ports/clock.ts';
import { type StorageProblem, storageMessage } from '../shared/base/ports/storage-unavailable.ts';
import { storageProblemOf } from './disk-errors.ts';

/** File system operations of a disk. All of these reject with file system errors. */
export interface DiskPort {
  space(): Promise<DiskSpace>;
  /** Checks whether the reserve exists. Rejects if it could not be written. */
  hasReserve(): Promise<boolean>;
  writeReserve(bytes: number): Promise<void>;
  /** Does nothing if the reserve does not exist. */
  removeReserve(): Promise<void>;
}

interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

type DiskProblem = Exclude<StorageProblem, 'failing'>;

interface DiskParts {
  readonly port: DiskPort;
  readonly clock: Clock;
}

/**
 * Enough for SQLite to open and commit (0.6 MB) and for a delete request (some KB). Deleting whole chunks
 * needs no more. Rewriting chunks uses the space that pushes leave (MIN_FREE_BYTES) and that deletion freed.
 * It counts as a part of every store, so it is no larger than that.
 */
const RESERVE_BYTES = 1024 * 1024;
/** Below this, pushes are refused. The output of a merge has at most 128 MB, and usually a few. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
/** Upper bound of both on a small disk, as a share of its size. */
const MAX_SHARE = 0.05;
/** Pushes are accepted again above this multiple of the limit, so that they do not alternate at the limit. */
const ENOUGH_FACTOR = 1.5;
export const CHECK_MS = 2_000;
/** Maximum interval of checks. Checks every 2 s cost an idle store 0.2 % of a core. */
export const MAX_CHECK_MS = 30_000;
/** 4 GB/s: the disk of one machine cannot be filled faster. */
const MAX_FILL_BYTES_PER_MS = 4_000_000;
const CHECKS_BETWEEN_TRIES = 4;

export class Disk {
  readonly #parts: DiskParts;
  #found: DiskProblem | undefined;
  #onChange: (problem: DiskProblem | undefined) => void = () => undefined;
  #checking: Promise<void> | undefined;
  /**
   * Checks before the reserve is written again. Each attempt briefly takes space of a quota from all other
   * writes.
   */
  #checksToSkip = 0;
  /** Bytes that can be written before the disk counts as full, at the last check. */
  #spareBytes = 0;
  /** Ends the pause before the next check. */
  #changed: AbortController | undefined;

  constructor(parts: DiskParts) {
    this.#parts = parts;
  }

  /** Reason why the disk accepts no new entries; `undefined` if it accepts them. */
  get problem(): DiskProblem | undefined {
    return this.#found;
  }

  /** Message for clients; `undefined` if the disk accepts new entries. */
  get message(): string | undefined {
    return this.#found === undefined ? undefined : storageMessage(this.#found);
  }

  /**
   * Sets the listener that is called when the disk stops or resumes accepting new entries. Replaces the
   * previous listener.
   */
  setListener(listener: (problem: DiskProblem | undefined) => void): void {
    this.#onChange = listener;
  }

  /** Checks whether the disk is the reason for a failed write. */
  noteError(error: unknown): void {
    const problem = storageProblemOf(error);
    if (problem !== undefined && problem !== 'failing') void this.#change(problem);
  }

  /** Checks the disk. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#inspect().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /**
   * Checks the disk periodically: every CHECK_MS if there is little space, and as rarely as every MAX_CHECK_MS if
   * nothing can use up the space before.
   */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const changed = new AbortController();
      this.#changed = changed;
      const either = AbortSignal.any([changed.signal, signal]);
      await this.#parts.clock.sleep(this.#pauseMs(), either).catch(() => undefined);
      // If a write failed during a long pause, the next pauses are short.
      if (!either.aborted) await this.check();
    }
  }

  #pauseMs(): number {
    if (this.#found !== undefined) return CHECK_MS;
    return Math.min(Math.max(this.#spareBytes / MAX_FILL_BYTES_PER_MS, CHECK_MS), MAX_CHECK_MS);
  }

  async #inspect(): Promise<void> {
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
        if (freeBytes < minFree) await this.#change('full');
        else if (!isThere) await port.writeReserve(reserve);
      } else if (freeBytes >= minFree * ENOUGH_FACTOR + reserve && --this.#checksToSkip < 0) {
        this.#checksToSkip = CHECKS_BETWEEN_TRIES;
        // Proves that a quota is not exhausted and that the folder is writable.
        await port.writeReserve(reserve);
        await this.#change(undefined);
      }
    } catch (error) {
      const problem = storageProblemOf(error);
      // Ignores other errors, because the affected operations report them.
      if (problem !== undefined && problem !== 'failing') await this.#change(problem);
    }
  }

  async #change(problem: DiskProblem | undefined): Promise<void> {
    const isNew = this.#found !== problem;
    this.#found = problem;
    if (isNew) {
      this.#checksToSkip = 0;
      this.#changed?.abort();
    }
    // Also removes a partly written reserve.
    if (problem === 'full') await this.#parts.port.removeReserve().catch(() => undefined);
    if (isNew) this.#onChange(problem);
  }
}
