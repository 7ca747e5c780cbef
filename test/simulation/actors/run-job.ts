/** A scheduled job, after the requested ones. */

import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import type { LastRun } from '../../../shared/upkeep/maintenance/jobs.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';
import type { SimulatedProcess } from '../process.ts';
import { boundsOf } from './bounds.ts';

/** A job keeps the messages of what went wrong, not the errors: those of the outside, and of others being faster. */
export const ORDINARY = [
  /injected (fault|throttle)/,
  /too many concurrent changes to the days of tenant/,
  /the lease is lost|the day has changed|an input is gone/,
  /another process took the sync over/,
  /too many concurrent changes to the state sync; retry/,
];

export const runJob: SimulatedActor = {
  name: 'run job',
  weight: 2,
  tolerates: [],

  async step({ process, dice }: ActorContext): Promise<void> {
    const { jobs } = process.maintenance;
    const runs = await jobs.tick(dice.pick(jobs.list).name, boundsOf(process));
    checkRuns(process, runs, ORDINARY);
  },
};

/** Throws BrokenInvariantError if a part of a run failed with an unexpected error. */
export function checkRuns(
  { name }: SimulatedProcess,
  runs: readonly LastRun[],
  ordinary: readonly RegExp[],
): void {
  for (const { job, failures } of runs) {
    const strange = failures.find(failure => !ordinary.some(pattern => pattern.test(failure)));
    mustHold(INVARIANTS.failuresAreNamed, strange === undefined, `${job} at ${name}: ${strange}`);
  }
}
