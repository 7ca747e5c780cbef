/** The store's own index sync of a day, mostly forced: few days of a run have as many chunks as make it worth its cost. */
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';

export const syncDay: SimulatedActor = {
  name: 'sync day',
  weight: 2,
  tolerates: ['SwapConflictError'],

  async step({ process, dice, tenants, days }: ActorContext): Promise<void> {
    const [tenant, day] = [dice.pick(tenants), dice.pick(days)];
    await process.syncer.syncDay({ tenant, day, force: dice.chance(0.9), ...boundsOf(process) });
  },
};
