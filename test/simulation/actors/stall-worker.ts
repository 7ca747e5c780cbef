/**
 * A worker that stands still until its lease is over, and another that takes the day meanwhile: it goes on in the middle of
 * the other's work, as sure of itself as before. By chance alone that would hardly ever happen.
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
    const work = (on: typeof process) => {
      const bounds = { ...boundsOf(on), untilMs: Number.POSITIVE_INFINITY };
      if (dice.chance(0.3)) return on.syncer.syncDay({ tenant, day, force: true, ...bounds });
      return on.compactor.compactDay({ tenant, day, force: true, ...bounds });
    };
    process.pauseAtCall(dice.below(MAX_CALLS), LEASE_MS + dice.between(500, 3000));
    const stalled = work(process);
    stalled.catch(() => undefined);
    await process.clock.sleep(1);
    const other = anyProcess();
    if (other !== process) {
      await other.clock.sleep(LEASE_MS + dice.between(0, 3000));
      // Its own process may die; that it does is no matter of this one.
      await Promise.race([other.request(() => work(other)).catch(error => error), stalled]);
    }
    await stalled;
  },
};
