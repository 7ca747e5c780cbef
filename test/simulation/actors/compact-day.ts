/** The store's own compaction of a day, mostly forced: the days of a run are too short for windows to close in time. */
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';

export const compactDay: SimulatedActor = {
  name: 'compact day',
  weight: 2,
  tolerates: ['SwapConflictError'],

  async step({ process, dice, tenants, days }: ActorContext): Promise<void> {
    const [tenant, day] = [dice.pick(tenants), dice.pick(days)];
    await process.compactor.compactDay({ tenant, day, force: dice.chance(0.8), ...boundsOf(process) });
  },
};
