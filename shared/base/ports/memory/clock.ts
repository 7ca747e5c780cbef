/**
 * A clock that moves only when a test moves it, and ids that repeat with their seed. Sleepers wake in order of
 * their time, and what a sleeper starts is given the chance to run before time moves on: so a chain of sleeps
 * inside one `advance` sees every instant it asked for.
 *
 * A reader would get wrong: only work on memory ports is waited for. A step that waits for a disk or for a thread
 * may still be under way when time moves.
 */
import { NS_PER_MS } from '../../model/time-units.ts';
import type { Clock, Ids } from '../clock.ts';
import { seededRandom } from './random.ts';

/** Turns of the event loop that a woken sleeper gets to run its continuations, those of the ports included. */
const SETTLE_TURNS = 2;
/** Idle turns (some seconds) after which `run` gives up on work that sleeps on nothing. */
const MAX_IDLE_TURNS = 2_000_000;
/** Time moves of one `run`: a loop that sleeps for ever is reported, not waited for. */
const MAX_WAKES = 10_000_000;

export interface VirtualClock extends Clock {
  /** Sleepers that wait. */
  readonly sleepers: number;
  /** Moves time by `ms`, waking sleepers on the way. */
  advance(ms: number): Promise<void>;
  /** Moves time from sleeper to sleeper until `work` settles. Throws where it waits and nobody sleeps. */
  run<T>(work: Promise<T>): Promise<T>;
}

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** `startMs` is Unix time, ms. */
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
      let idleTurns = 0;
      for (let wakes = 0; !settled; ) {
        const next = earliest();
        if (next === undefined) {
          if (++idleTurns > MAX_IDLE_TURNS) throw new Error('the work waits, but not on this clock');
          await turn();
          continue;
        }
        if (++wakes > MAX_WAKES) throw new Error(`the work still sleeps after ${MAX_WAKES} wakes`);
        idleTurns = 0;
        await wakeOne(next);
      }
      return work;
    },
  };
}

/** The same ids for the same seed. */
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

function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

async function settle(): Promise<void> {
  for (let i = 0; i < SETTLE_TURNS; i++) await turn();
}
