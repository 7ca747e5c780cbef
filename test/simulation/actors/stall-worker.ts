/**
 * A worker that pauses until its lease has expired, and another that takes the day in the meantime: the first
 * continues in the middle of the other's work, unaware of the loss. By chance alone that would hardly ever
 * happen.
 */
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';

/** The lease of compaction and index sync, ms; seconds are rounded up in its item. */
const LEASE_MS = 60_000;
/** Calls of one step, about. */
const MAX_CALLS = 25;

export const stallWorker: SimulatedActor = {
  name: 'stall worker',
  weight: 1,
  tolerates: ['SwapConflictError'],

  async step({ process, anyProcess, dice, tenants, days }: ActorContext): Promise<void> {
    const [tenant, day] = [dice.pick(tenants), dice.pick(days)];
    const other = anyProcess();
    const work = async (on: typeof process): Promise<void> => {
      const bounds = { ...boundsOf(on), untilMs: Number.POSITIVE_INFINITY };
      if (dice.chance(0.3)) await on.syncer.syncDay({ tenant, day, force: true, ...bounds });
      else await on.compactor.compactDay({ tenant, day, force: true, ...bounds });
    };
    const stallMs = LEASE_MS + dice.between(500, 3000);
    process.pauseAtCall(dice.below(MAX_CALLS), stallMs);
    const ends = [work(process)];
    if (other !== process) {
      const takesOver = async () => {
        await other.clock.sleep(stallMs - dice.below(500));
        await work(other);
      };
      ends.push(other.request(takesOver));
    }
    const failed = (await Promise.allSettled(ends)).find(end => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  },
};
