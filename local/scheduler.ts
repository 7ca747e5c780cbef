/**
 * Timer of one machine. Runs the jobs that a scheduler calls in an AWS account, one run of each job at a
 * time.
 */
import type { Clock } from '../shared/base/ports/clock.ts';
import type { Job, Jobs } from '../shared/upkeep/maintenance/jobs.ts';
import { type JobLog, logRun } from '../shared/upkeep/maintenance/log-run.ts';
import { type BackgroundParts, runInBackground } from './background.ts';

export interface SchedulerOptions {
  readonly jobs: Pick<Jobs, 'list' | 'tick'>;
  /** Selects the jobs of this process. Default: all. */
  readonly does?: (job: Job) => boolean;
  /**
   * Called before each run. A job that may not run is tried again after its interval. Default: all may run.
   */
  readonly mayRun?: (job: Job) => boolean;
  readonly clock: Clock;
  readonly log: JobLog & BackgroundParts['log'];
  /** Time in ms after which a run starts no new work. The next run continues immediately. */
  readonly runMs: number;
}

export interface Scheduler {
  /** Runs a job now, or once more after its current run. */
  kick(job: string): void;
  /** Cancels the running jobs and waits for them. */
  stop(): Promise<void>;
}

/** Pause between two runs of a job with remaining work, so that requests have priority. */
const PAUSE_MS = 1000;
/** An interval of 0 means as often as possible, but with this pause. */
const MIN_INTERVAL_MS = 50;

export function startScheduler(options: SchedulerOptions): Scheduler {
  const { jobs, does = () => true, mayRun = () => true, clock, log, runMs } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const kicks = new Map<string, AbortController>();

  /** Waits for the interval or for a kick. */
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
      // After failures, waits the full interval: failed work would fail again immediately.
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
