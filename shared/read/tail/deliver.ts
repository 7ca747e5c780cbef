/**
 * Delivers entries to tails. All tails get a part before any gets the next, and clients with full queues get
 * time to receive some. A post is a system call. A hundred of them take over 1 ms of the thread that also
 * responds to pushes, so delivery yields every few tails.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DELIVERED_AT_ONCE, TAILS_PER_SLICE } from './bounds.ts';
import type { LiveTail } from './live-tail.ts';
import { sortByTime, type TailEntry } from './tail-entry.ts';

/** Schedules the tails of a tenant on a shared thread. */
export interface TailPace {
  nowMs(): number;
  /**
   * Ends the time slice that started at `startedMs`, and waits for the next one. Throws when serving has
   * ended.
   */
  yield(startedMs: number): Promise<void>;
}

/**
 * Delivers the entries, in any order. A tail that ends meanwhile receives no more. Throws errors of `pace`.
 */
export async function deliverToTails(
  tails: readonly LiveTail[],
  entries: TailEntry[],
  pace: TailPace,
): Promise<void> {
  const sorted = sortByTime(entries);
  for (let from = 0; from < sorted.length; from += DELIVERED_AT_ONCE) {
    const some = sorted.slice(from, from + DELIVERED_AT_ONCE);
    const startedMs = pace.nowMs();
    // Tails that joined together share their covered IDs, and therefore the filtered entries.
    const ownOf = new Map<ReadonlySet<string>, readonly TailEntry[]>();
    for (let i = 0; i < tails.length; i++) {
      if (i > 0 && i % TAILS_PER_SLICE === 0) await nextTurn();
      const { covered, outbox } = tails[i];
      let own = ownOf.get(covered);
      if (own === undefined) {
        own = tails[i].ownOf(some);
        ownOf.set(covered, own);
      }
      outbox.offer(own);
    }
    // Pending posts continue until the event loop has turned.
    await nextTurn();
    await pace.yield(startedMs);
    await Promise.all(tails.filter(({ outbox }) => !outbox.isReady).map(({ outbox }) => outbox.caughtUp()));
  }
}
