/** Deletes the objects whose grace is over. */
import type { ActorContext, SimulatedActor } from '../actor.ts';

const LISTS_AT_ONCE = 10;

export const collectGarbage: SimulatedActor = {
  name: 'collect garbage',
  weight: 1,
  tolerates: [],

  async step({ process: { catalog, store, clock } }: ActorContext): Promise<void> {
    for (const list of await catalog.garbage.due(clock.nowMs(), LISTS_AT_ONCE)) {
      for (const key of list.keys) await store.delete(key);
      await catalog.garbage.remove(list);
    }
  },
};
