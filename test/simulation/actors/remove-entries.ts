/** Jobs that delete entries and remove expired ones, several times in sequence or in parallel. */
import type { ActorContext, SimulatedActor } from '../actor.ts';
import type { SimulatedProcess } from '../process.ts';
import { boundsOf } from './bounds.ts';
import { compactDay } from './compact-day.ts';
import { checkRuns, ORDINARY } from './run-job.ts';

export const removeEntries: SimulatedActor = {
  name: 'remove entries',
  weight: 6,
  tolerates: ['SwapConflictError'],

  async step(context: ActorContext): Promise<void> {
    const { process, anyProcess, dice } = context;
    const job = dice.chance(0.75) ? 'deletion' : 'retention';
    const other = anyProcess();
    // A push that is paused meanwhile commits entries that were covered when it began.
    if (other !== process && dice.chance(0.2))
      other.pauseAtCall(dice.below(8), dice.between(60_000, 250_000));
    for (let times = dice.between(1, 3); times > 0; times--) {
      const ends = [run(process, job)];
      if (dice.chance(0.2)) ends.push(run(other, job));
      else if (dice.chance(0.3))
        ends.push(other.request(() => compactDay.step({ ...context, process: other })));
      const failed = (await Promise.allSettled(ends)).find(end => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      await process.clock.sleep(dice.pick([1, 1000, 65_000]));
    }
  },
};

async function run(process: SimulatedProcess, job: string): Promise<void> {
  const bounds = boundsOf(process);
  checkRuns(process, [await process.request(() => process.maintenance.jobs.run(job, bounds))], ORDINARY);
}
