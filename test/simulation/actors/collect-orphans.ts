/**
 * Searches the whole store for unreferenced objects; mostly while another process compacts, so that objects
 * move from records to lists of garbage in the meantime. It finds orphans in runs that last over a day.
 */

import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import { collectOrphans as collect } from '../../../shared/upkeep/compaction/collector.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';
import type { SimulatedProcess } from '../process.ts';
import { boundsOf } from './bounds.ts';
import { compactDay } from './compact-day.ts';

export const collectOrphans: SimulatedActor = {
  name: 'collect orphans',
  weight: 1,
  tolerates: ['SwapConflictError'],

  async step(context: ActorContext): Promise<void> {
    const { process, anyProcess, dice } = context;
    const ends: Promise<void>[] = [];
    if (dice.chance(0.8)) {
      const other = anyProcess();
      ends.push(other.request(() => compactDay.step({ ...context, process: other })));
    }
    ends.push(walkThrough(process, dice.between(0, 30)));
    const failed = (await Promise.allSettled(ends)).find(end => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  },
};

async function walkThrough(process: SimulatedProcess, waitMs: number): Promise<void> {
  const { workCatalog: catalog, store, clock } = process;
  await clock.sleep(waitMs);
  const { unreadable } = await collect({ catalog, store, clock }, undefined, boundsOf(process));
  mustHold(INVARIANTS.checksumsHold, unreadable.length === 0, `records of ${unreadable[0]} are damaged`);
}
