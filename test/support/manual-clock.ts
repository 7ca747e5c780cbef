/** A clock that moves only on request, and consecutive IDs: for tests of what depends on time. */
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import type { Clock, Ids } from '../../shared/base/ports/clock.ts';

export interface ManualClock extends Clock {
  /** Moves the time; sleepers whose time has come wake. */
  advance(ms: number): void;
}

export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startMs;
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  return {
    nowMs: () => now,
    nowNs: () => BigInt(Math.trunc(now)) * NS_PER_MS,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        sleepers.push({ atMs: now + ms, wake: resolve });
      }),
    advance(ms) {
      now += ms;
      const due = sleepers.filter(({ atMs }) => atMs <= now);
      sleepers = sleepers.filter(({ atMs }) => atMs > now);
      for (const { wake } of due.sort((a, b) => a.atMs - b.atMs)) wake();
    },
  };
}

export function countingIds(): Ids {
  let count = 0;
  return {
    randomHex: bytes =>
      (++count)
        .toString(16)
        .padStart(bytes * 2, '0')
        .slice(-bytes * 2),
  };
}
