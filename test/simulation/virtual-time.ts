/**
 * The time of a simulated run, and its scheduler. Time stands still while anybody can go on; then the next sleeper is
 * woken: the earliest, and of equal ones the one that the seed prefers. One sleeper wakes at a time, and what it starts
 * runs until all of it waits again: so the order of a run depends on its seed alone.
 *
 * A reader would get wrong: parts of the store give others a turn with setImmediate. What waits for such a turn is not
 * idle, so idleness is asked of Node itself (immediates that wait), not guessed by a number of turns. For the same
 * reason one process of Node runs one simulation at a time: two would take each other for work under way.
 */
import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Dice } from './dice.ts';

/** A run takes some thousand; a loop that sleeps for ever is reported, not waited for. */
const MAX_WAKES = 200_000;
/** Turns until a woken sleeper waits again; a query over some chunks takes tens. */
const MAX_TURNS = 100_000;

interface Sleeper {
  readonly atMs: number;
  readonly tie: number;
  readonly wake: () => void;
}

export class VirtualTime implements Clock {
  /** Sleepers woken so far. */
  wakes = 0;
  #ms: number;
  readonly #dice: Dice;
  readonly #waiting = new Set<Sleeper>();

  readonly #maxWakes: number;

  /** @param startMs Unix time, ms */
  constructor(startMs: number, dice: Dice, maxWakes = MAX_WAKES) {
    this.#ms = startMs;
    this.#dice = dice;
    this.#maxWakes = maxWakes;
  }

  nowMs(): number {
    return this.#ms;
  }

  nowNs(): bigint {
    return BigInt(this.#ms) * NS_PER_MS;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = (): void => {
        this.#waiting.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const sleeper = { atMs: this.#ms + Math.max(0, Math.ceil(ms)), tie: this.#dice.next(), wake };
      this.#waiting.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Moves time until `work` settles. Throws BrokenInvariantError where it waits for something that cannot come. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    work.then(settle, settle);
    await untilIdle();
    while (!isSettled) {
      mustHold(INVARIANTS.requestsEnd, await this.#wakeNext(), 'nobody sleeps, and the work is not done');
    }
    return work;
  }

  /** Wakes sleepers until none is left. */
  async drain(): Promise<void> {
    while (await this.#wakeNext());
  }

  async #wakeNext(): Promise<boolean> {
    const next = this.#earliest();
    if (next === undefined) return false;
    mustHold(
      INVARIANTS.requestsEnd,
      ++this.wakes <= this.#maxWakes,
      `still at work after ${this.#maxWakes} wakes`,
    );
    this.#waiting.delete(next);
    this.#ms = next.atMs;
    next.wake();
    await untilIdle();
    return true;
  }

  #earliest(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const one of this.#waiting) {
      const isBefore =
        first === undefined || one.atMs < first.atMs || (one.atMs === first.atMs && one.tie < first.tie);
      if (isBefore) first = one;
    }
    return first;
  }
}

/** Resolves when no promise goes on by itself and nobody waits for a turn. */
async function untilIdle(): Promise<void> {
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    await new Promise(resolve => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
  }
  mustHold(INVARIANTS.requestsEnd, false, `still at work after ${MAX_TURNS} turns of one instant`);
}
