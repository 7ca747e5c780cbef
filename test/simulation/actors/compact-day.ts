/** The store's own compaction of a day, forced: the days of a run are too short for windows to close in time. */
import { Compactor } from '../../../shared/compaction/compactor.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';

const MEBIBYTE = 1024 * 1024;

export const compactDay: SimulatedActor = {
  name: 'compact day',
  weight: 2,
  tolerates: ['SwapConflictError'],

  async step({ process, dice, tenants, days, graceMs }: ActorContext): Promise<void> {
    const { catalog, store, clock, ids } = process;
    const options = { targetBytes: MEBIBYTE, inlineMaxBytes: dice.pick([0, 4096]), graceMs };
    await new Compactor({ catalog, store, clock, ids, options }).compactDay({
      tenant: dice.pick(tenants),
      day: dice.pick(days),
      force: dice.chance(0.8),
      untilMs: clock.nowMs() + 60_000,
      signal: new AbortController().signal,
    });
  },
};
