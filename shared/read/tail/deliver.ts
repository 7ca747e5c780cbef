/**
 * Hands entries to tails: all get a part before any gets the next, and clients whose queues are full get a while to take some.
 * A post is a call of the system, and a hundred of them are a millisecond and more of the one thread that answers pushes, too;
 * so others get their turn every few tails.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DELIVERED_AT_ONCE, TAILS_PER_TURN } from './bounds.ts';
import type { LiveTail } from './live-tail.ts';
import { sortByTime, type TailEntry } from './tail-entry.ts';

/** How the tails of a tenant share the thread with others. */
export interface Pace {
  nowMs(): number;
  /** Ends the time slice that began at `startedMs`, and waits for the next one. Throws when nothing is shown any more. */
  yield(startedMs: number): Promise<void>;
}

/** Takes the entries, in any order. A tail that ends meanwhile takes no more. Throws what `pace` throws. */
export async function deliver(tails: readonly LiveTail[], entries: TailEntry[], pace: Pace): Promise<void> {
  const sorted = sortByTime(entries);
  for (let from = 0; from < sorted.length; from += DELIVERED_AT_ONCE) {
    const some = sorted.slice(from, from + DELIVERED_AT_ONCE);
    const startedMs = pace.nowMs();
    // Those that joined together leave out the same.
    const ownOf = new Map<ReadonlySet<string>, readonly TailEntry[]>();
    for (let i = 0; i < tails.length; i++) {
      if (i > 0 && i % TAILS_PER_TURN === 0) await nextTurn();
      const { covered, outbox } = tails[i];
      let own = ownOf.get(covered);
      if (own === undefined) {
        own = tails[i].ownOf(some);
        ownOf.set(covered, own);
      }
      outbox.offer(own);
    }
    // What is posted for them goes on until the end of the turn.
    await nextTurn();
    await pace.yield(startedMs);
    await Promise.all(tails.filter(({ outbox }) => !outbox.hasRoom).map(({ outbox }) => outbox.room()));
  }
}
