/**
 * Clock that moves only when a test moves it, and IDs that repeat with their seed. Sleepers wake in order of
 * their time. Code that a sleeper starts can run before time moves on. A chain of sleeps within one `advance`
 * thus sees every instant that it requested.
 *
 * Pitfall: the clock waits only for work on memory ports. A step that waits for a disk or a thread may still
 * be in progress when time moves.
 */
import { NS_PER_MS } from '../../model/time-units.ts';
import type { Clock, Ids } from '../clock.ts';
import { seededRandom } from './random.ts';

/**
 * Rounds of the event loop in which a woken sleeper can run its continuations, including those of the ports.
 */
const SETTLE_ROUNDS = 2;
/** Idle rounds (a few seconds) after which `run` stops waiting for work without a sleeper. */
const MAX_IDLE_ROUNDS = 2_000_000;
/** Maximum number of time moves in one `run`. A loop that sleeps forever is reported. */
const MAX_WAKES = 10_000_000;

export interface VirtualClock extends Clock {
  /** Number of sleepers that wait. */
  readonly sleepers: number;
  /** Moves time by `ms`, waking sleepers on the way. */
  advance(ms: number): Promise<void>;
  /**
   * Moves time from sleeper to sleeper until `work` settles. Throws if the work waits while no sleeper
   * exists.
   */
  run<T>(work: Promise<T>): Promise<T>;
}

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** @param startMs Unix time, ms */
export function virtualClock(startMs = 2_000_000_000_000): VirtualClock {
  let nowMs = startMs;
  let slept = 0;
  const waiting = new Set<Sleeper>();

  const earliest = (): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const sleeper of waiting) {
      if (
        first === undefined ||
        sleeper.atMs < first.atMs ||
        (sleeper.atMs === first.atMs && sleeper.order < first.order)
      ) {
        first = sleeper;
      }
    }
    return first;
  };

  const wakeOne = async (sleeper: Sleeper): Promise<void> => {
    waiting.delete(sleeper);
    nowMs = Math.max(nowMs, sleeper.atMs);
    sleeper.wake();
    await settle();
  };

  return {
    nowNs: () => BigInt(Math.trunc(nowMs)) * NS_PER_MS,
    nowMs: () => Math.trunc(nowMs),
    get sleepers() {
      return waiting.size;
    },

    sleep(ms, signal) {
      return new Promise<void>((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const abort = (): void => {
          waiting.delete(sleeper);
          reject(signal?.reason);
        };
        const wake = (): void => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const sleeper: Sleeper = { atMs: nowMs + Math.max(0, ms), order: slept++, wake };
        waiting.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
      });
    },

    async advance(ms) {
      const targetMs = nowMs + ms;
      await settle();
      for (let next = earliest(); next !== undefined && next.atMs <= targetMs; next = earliest()) {
        await wakeOne(next);
      }
      nowMs = Math.max(nowMs, targetMs);
    },

    async run(work) {
      let settled = false;
      const mark = (): void => {
        settled = true;
      };
      work.then(mark, mark);
      await settle();
      let idleRounds = 0;
      for (let wakes = 0; !settled; ) {
        const next = earliest();
        if (next === undefined) {
          if (++idleRounds > MAX_IDLE_ROUNDS) throw new Error('the work waits, but not on this clock');
          await nextRound();
          continue;
        }
        if (++wakes > MAX_WAKES) throw new Error(`the work still sleeps after ${MAX_WAKES} wakes`);
        idleRounds = 0;
        await wakeOne(next);
      }
      return work;
    },
  };
}

/** Returns IDs that repeat for the same seed. */
export function seededIds(seed: number): Ids {
  const random = seededRandom(seed);
  return {
    randomHex(bytes) {
      let hex = '';
      for (let i = 0; i < bytes; i++)
        hex += Math.floor(random() * 256)
          .toString(16)
          .padStart(2, '0');
      return hex;
    },
  };
}

function nextRound(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

async function settle(): Promise<void> {
  for (let i = 0; i < SETTLE_ROUNDS; i++) await nextRound();
}
