/** The timer of one machine: calls the jobs that a scheduler calls in an account, one run of each at a time. */
import type { Clock } from '../shared/base/ports/clock.ts';
import type { Job, Jobs } from '../shared/upkeep/maintenance/jobs.ts';
import { type JobLog, logRun } from '../shared/upkeep/maintenance/log-run.ts';
import { type BackgroundParts, runInBackground } from './background.ts';

export interface SchedulerOptions {
  readonly jobs: Pick<Jobs, 'list' | 'tick'>;
  /** Which of them this process runs. Default: all. */
  readonly does?: (job: Job) => boolean;
  /** Asked before each run: a job that may not run now is tried again when its interval is over. Default: all may. */
  readonly mayRun?: (job: Job) => boolean;
  readonly clock: Clock;
  readonly log: JobLog & BackgroundParts['log'];
  /** A run starts no new work after this time, ms; what is left is done by the next one, at once. */
  readonly runMs: number;
}

export interface Scheduler {
  /** Runs a job now, or once more behind the run that is going on. */
  kick(job: string): void;
  /** Ends the runs where they may be ended, and waits for them. */
  stop(): Promise<void>;
}

/** Between two runs of a job that has work left: requests go first. */
const PAUSE_MS = 1000;
/** An interval of 0 means as often as possible, not without a pause. */
const MIN_INTERVAL_MS = 50;

export function startScheduler(options: SchedulerOptions): Scheduler {
  const { jobs, does = () => true, mayRun = () => true, clock, log, runMs } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const kicks = new Map<string, AbortController>();

  /** Until it is time, or somebody asks. */
  async function wait(job: Job, ms: number): Promise<void> {
    const kick = kicks.get(job.name) ?? new AbortController();
    kicks.set(job.name, kick);
    await clock.sleep(ms, AbortSignal.any([kick.signal, signal])).catch(() => undefined);
    kicks.delete(job.name);
  }

  async function keepRunning(job: Job): Promise<void> {
    const everyMs = Math.max(job.everyMs, MIN_INTERVAL_MS);
    let waitMs = everyMs;
    while (!signal.aborted) {
      await wait(job, waitMs);
      if (signal.aborted) return;
      if (!mayRun(job)) {
        waitMs = everyMs;
        continue;
      }
      const runs = await jobs.tick(job.name, { untilMs: clock.nowMs() + runMs, signal });
      if (signal.aborted) return;
      for (const run of runs) logRun(log, run);
      const { done, failures } = runs[runs.length - 1];
      // Failures are not work left: what fails fails again.
      waitMs = done || failures.length > 0 ? everyMs : PAUSE_MS;
    }
  }

  const loops = jobs.list
    .filter(does)
    .map(job => runInBackground(job.name, () => keepRunning(job), { clock, log, signal }));
  return {
    kick(name) {
      const kick = kicks.get(name) ?? new AbortController();
      kicks.set(name, kick);
      kick.abort();
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
