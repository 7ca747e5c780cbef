/** Looks through the whole store for objects that nobody names. It finds some in runs that last over a day. */
import { collectOrphans as collect } from '../../../shared/compaction/collector.ts';
import { INVARIANTS, mustHold } from '../../../shared/model/invariants.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';

export const collectOrphans: SimulatedActor = {
  name: 'collect orphans',
  weight: 1,
  tolerates: [],

  async step({ process }: ActorContext): Promise<void> {
    const { workCatalog: catalog, store, clock } = process;
    const { unreadable } = await collect({ catalog, store, clock }, undefined, boundsOf(process));
    mustHold(INVARIANTS.checksumsHold, unreadable.length === 0, `records of ${unreadable[0]} are damaged`);
  },
};
