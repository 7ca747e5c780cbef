/**
 * Names of chunks: 12 hex digits of the Unix ms at which writing began, then 20 random hex digits. A committer of
 * pushes uses the first 4 of those to number its names within a millisecond.
 *
 * Each name is used by one write attempt only, so an object belongs to the one commit that may name it. A retry cannot
 * bring back an object that is about to be collected. Names sort by age, and the age of an object is known without
 * reading it.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';

/**
 * Maximum time from the start of writing to the commit, ms. A later commit gives up. Far below the age at which objects
 * without a record are collected.
 */
export const MAX_COMMIT_MS = 600_000;

const TIME_DIGITS = 12;
const RANDOM_BYTES = 10;
const NUMBER_DIGITS = 4;
const NUMBERED_RANDOM_BYTES = 8;
const GROUPED_RANDOM_BYTES = 6;
/**
 * Maximum clock step back, ms, that does not change the order of names. Below all margins for clock differences between
 * processes, because a name then contains a later time than the clock.
 */
const MAX_STEP_BACK_MS = 5000;

export function newChunkId(clock: Clock, ids: Ids): string {
  return Math.trunc(clock.nowMs()).toString(16).padStart(TIME_DIGITS, '0') + ids.randomHex(RANDOM_BYTES);
}

/**
 * Names that ascend in the order in which they were requested. Names order entries with equal timestamps, and several
 * groups of pushes may begin within a millisecond.
 */
export class AscendingChunkIds {
  readonly #clock: Clock;
  readonly #ids: Ids;
  #lastMs = 0;
  #number = 0;

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  next(): string {
    return this.#prefix() + this.#ids.randomHex(NUMBERED_RANDOM_BYTES);
  }

  /** Creates names for chunks that are written together. They ascend, and sort before those of every later group. */
  group(): { next(): string } {
    let prefix = this.#prefix();
    let part = 0;
    return {
      next: () => {
        if (part === 16 ** NUMBER_DIGITS) {
          prefix = this.#prefix();
          part = 0;
        }
        return prefix + hex(part++, NUMBER_DIGITS) + this.#ids.randomHex(GROUPED_RANDOM_BYTES);
      },
    };
  }

  #prefix(): string {
    const nowMs = Math.trunc(this.#clock.nowMs());
    if (nowMs > this.#lastMs || nowMs < this.#lastMs - MAX_STEP_BACK_MS) {
      this.#lastMs = nowMs;
      this.#number = 0;
    } else if (++this.#number === 16 ** NUMBER_DIGITS) {
      this.#lastMs++;
      this.#number = 0;
    }
    return hex(this.#lastMs, TIME_DIGITS) + hex(this.#number, NUMBER_DIGITS);
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** Unix ms at which the writing of the chunk began. */
export function startedMsOf(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 16);
}
