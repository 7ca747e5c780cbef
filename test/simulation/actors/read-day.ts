/** Reads a day as a query does and holds what it got against the swaps that really happened. */
import type { ActorContext, SimulatedActor } from '../actor.ts';

export const readDay: SimulatedActor = {
  name: 'read day',
  weight: 1,
  tolerates: [],

  async step({ process, oracle, dice, tenants, days }: ActorContext): Promise<void> {
    const [tenant, day] = [dice.pick(tenants), dice.pick(days)];
    const began = oracle.moment;
    const snapshot = await process.readCatalog.day(tenant, day);
    if (snapshot !== undefined) oracle.history.checkSnapshot(tenant, snapshot, began);
  },
};
