/**
 * System time and randomness. Both readings come from one source with a resolution of a millisecond, so that
 * `nowNs` and `nowMs` never contradict each other.
 */

import { NS_PER_MS } from '../model/time-units.ts';
import type { Clock, Ids } from '../ports/clock.ts';

/**
 * Maximum of one Node.js timer, 2^31 - 1 ms; above it, a timer fires immediately. Longer sleeps are split.
 */
const MAX_TIMER_MS = 0x7fff_ffff;

export const SYSTEM_CLOCK: Clock = Object.freeze({
  nowNs: () => BigInt(Date.now()) * NS_PER_MS,
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    let leftMs = ms;
    do {
      await sleepOnce(Math.min(leftMs, MAX_TIMER_MS), signal);
      leftMs -= MAX_TIMER_MS;
    } while (leftMs > 0);
  },
});

/** Random bytes that are drawn at once: a call takes 10 µs or more between the work on a push, however few it draws. */
const DRAWN_BYTES = 512;
let drawn = Buffer.alloc(0);
let used = 0;

/** IDs from the operating system's generator; suitable for secrets. Commands that need none do not load node:crypto. */
export const SYSTEM_IDS: Ids = Object.freeze({
  randomHex(bytes: number): string {
    const { randomBytes } = process.getBuiltinModule('node:crypto');
    if (bytes > DRAWN_BYTES) return randomBytes(bytes).toString('hex');
    if (used + bytes > drawn.length) {
      drawn = randomBytes(DRAWN_BYTES);
      used = 0;
    }
    const text = drawn.toString('hex', used, used + bytes);
    // A secret is not left in memory a second time.
    drawn.fill(0, used, used + bytes);
    used += bytes;
    return text;
  },
});

// Sleeps with one timer. The promise timers of Node.js reject with an AbortError, but the port promises the
// signal's reason.
function sleepOnce(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.max(0, ms),
    );
    signal?.addEventListener('abort', abort, { once: true });
  });
}
