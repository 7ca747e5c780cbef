/** Changes how long a tenant's entries are kept, and whether its delete requests are worked on. */
import type { StreamRetention } from '../../../shared/base/model/limits.ts';
import { NS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';

/** Hours that a stream may be kept; 0 is for good. Entries of a run are up to three days old, or four. */
const HOURS = [0n, 0n, 5n, 20n, 30n, 47n, 100n];

export const changeLimits: SimulatedActor = {
  name: 'change limits',
  weight: 1,
  tolerates: [],

  async step({ oracle, dice, tenants }: ActorContext): Promise<void> {
    const period = () => dice.pick(HOURS) * NS_PER_HOUR;
    const rules: StreamRetention[] = [
      { selector: '{app="b"}', priority: 1, periodNs: period() },
      { selector: '{pod="2"}', priority: dice.pick([1, 2]), periodNs: period() },
    ];
    oracle.ledger!.limits.set(dice.pick(tenants), {
      deletionMode: dice.chance(0.8) ? 'filter-and-delete' : 'filter-only',
      retentionPeriodNs: period(),
      retentionStream: rules.slice(0, dice.below(3)),
    });
  },
};
