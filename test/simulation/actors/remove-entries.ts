/** The jobs that delete and that remove what is expired, some times in a row or at once. */
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { boundsOf } from './bounds.ts';
import { checkRuns, ORDINARY } from './run-job.ts';

export const removeEntries: SimulatedActor = {
  name: 'remove entries',
  weight: 6,
  tolerates: [],

  async step(context: ActorContext): Promise<void> {
    const { process, anyProcess, dice } = context;
    const { jobs } = process.maintenance;
    const job = dice.chance(0.75) ? 'deletion' : 'retention';
    const together = [process, ...(dice.chance(0.3) ? [anyProcess()] : [])];
    for (let times = dice.between(1, 2); times > 0; times--) {
      const runs = together.map(one =>
        one === process ? jobs.run(job, boundsOf(one)) : one.request(() => one.maintenance.jobs.run(job, boundsOf(one))),
      );
      for (const end of await Promise.allSettled(runs)) {
        if (end.status === 'rejected') throw end.reason;
        checkRuns(process, [end.value], ORDINARY);
      }
    }
  },
};
