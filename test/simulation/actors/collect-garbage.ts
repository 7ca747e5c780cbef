/** Deletes the objects whose grace is over. */
import { collectGarbage as collect } from '../../../shared/upkeep/compaction/collector.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';

export const collectGarbage: SimulatedActor = {
  name: 'collect garbage',
  weight: 1,
  tolerates: [],

  async step({ process }: ActorContext): Promise<void> {
    const { workCatalog: catalog, store, clock } = process;
    await collect({ catalog, store, clock }, boundsOf(process));
  },
};
