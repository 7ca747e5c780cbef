/** Requested maintenance: a sync, a flush of everything in the background, a flush of one tenant. */
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';

export const askForMaintenance: SimulatedActor = {
  name: 'ask for maintenance',
  weight: 1,
  tolerates: ['SwapConflictError'],

  async step({ process, dice, tenants }: ActorContext): Promise<void> {
    const { maintenance } = process;
    const kind = dice.below(4);
    if (kind === 0) await maintenance.sync.request('manual');
    else if (kind === 1) await maintenance.flush.make();
    else if (kind === 2)
      await maintenance.flushTenant(dice.pick(tenants), boundsOf(process), async () => true);
    else await maintenance.status();
  },
};
