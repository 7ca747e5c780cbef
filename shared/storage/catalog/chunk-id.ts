/**
 * Names of chunks: 12 hex digits of the Unix ms at which the writing began, then 20 random ones, of which a committer of
 * pushes takes the first 4 to number its names within a millisecond. A name is used by one attempt to write and never again,
 * so an object belongs to the one commit that may name it: a retry cannot bring back an object that is about to be
 * collected. Names sort by age, and the age of an object is known without reading it.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';

/**
 * From the start of writing to the commit, at most: who is later gives up. Far below the age at which objects without a
 * record are collected.
 */
export const MAX_COMMIT_MS = 600_000;

const TIME_DIGITS = 12;
const RANDOM_BYTES = 10;
const NUMBER_DIGITS = 4;
const NUMBERED_RANDOM_BYTES = 8;
const GROUPED_RANDOM_BYTES = 6;
/**
 * A clock that was set back by no more than this does not change the order of names. Below all margins for clocks of
 * several processes, because a name then tells a later time than the clock.
 */
const MAX_STEP_BACK_MS = 5000;

export function newChunkId(clock: Clock, ids: Ids): string {
  return Math.trunc(clock.nowMs()).toString(16).padStart(TIME_DIGITS, '0') + ids.randomHex(RANDOM_BYTES);
}

/**
 * Names that ascend in the order in which they were asked for: names order entries with equal timestamps, and several groups
 * of pushes may begin within a millisecond.
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

  /** Names of chunks that are written together: they ascend, and stand before those of every later group. */
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
