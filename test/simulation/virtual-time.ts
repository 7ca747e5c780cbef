/**
 * The time of a simulated run, and its scheduler. Time does not move while any party can continue; then the
 * next sleeper is woken: the earliest, and of equal ones the one that the seed prefers. One sleeper wakes at
 * a time, and its work runs until all of it waits again: so the order of a run depends on its seed alone.
 *
 * Pitfall: parts of the store yield with setImmediate. Such work is not idle, so idleness is read from Node
 * itself (pending immediates), not guessed by a number of iterations. For the same reason one process of Node
 * runs one simulation at a time: two would count each other as work in progress.
 */
import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Dice } from './dice.ts';

/** A run takes some thousand; an endless loop of sleeps is reported. */
const MAX_WAKES = 200_000;
/** Iterations of the event loop until a woken sleeper waits again; a query over some chunks takes tens. */
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

  /**
   * Moves time until `work` settles. Throws BrokenInvariantError if it waits for something that cannot
   * happen.
   */
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

/** Resolves when no promise continues by itself and no work waits for the event loop. */
async function untilIdle(): Promise<void> {
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    await new Promise(resolve => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
  }
  mustHold(INVARIANTS.requestsEnd, false, `still at work after ${MAX_TURNS} turns of one instant`);
}
