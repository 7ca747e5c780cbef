/**
 * Scheduled work: what a timer does on one machine, and the scheduler of the account in functions. Every job may be
 * called at any time, twice at once, or not at all for a day: leases keep two from doing the same, and what one run does
 * not finish the next one finds.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';

/** A run works until its time is up, or until it is told to stop. */
export interface RunBounds {
  /** Nothing new begins after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface JobOutcome {
  /** False: there is work left for the next run. */
  readonly done: boolean;
  /** Parts of the work that went well, those with nothing to do included: a day, a walk. */
  readonly succeeded: number;
  /** What was done, by name; for people. */
  readonly figures: Readonly<Record<string, number>>;
  /** What went wrong with parts of it; the others were done. */
  readonly failures: readonly string[];
}

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(bounds: RunBounds): Promise<JobOutcome>;
  /** True where somebody waits for a run: the next tick of any job does it first. */
  isAskedFor?(): Promise<boolean>;
  /** Frequent and not to be kept waiting: its ticks run nothing else, and are kept only where something was done. */
  readonly isUrgent?: boolean;
}

/** What is known of a job's newest run. */
export interface LastRun extends JobOutcome {
  readonly job: string;
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface JobsParts {
  readonly jobs: readonly Job[];
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Told of each run; must not throw. */
  readonly onRun?: (run: LastRun) => void;
}

/** Failures kept of a run: enough to see what is wrong. */
const MAX_FAILURES = 20;

/** True where all that the run tried went wrong: somebody must look. */
export function hasFailed({ succeeded, failures }: JobOutcome): boolean {
  return succeeded === 0 && failures.length > 0;
}

export class Jobs {
  readonly list: readonly Job[];
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #onRun: JobsParts['onRun'];

  constructor({ jobs, catalog, clock, onRun }: JobsParts) {
    this.#onRun = onRun;
    this.list = jobs;
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /**
   * What a schedule calls: runs the jobs that somebody waits for, then the named one, whose run comes last. So whatever
   * is asked for begins with the most frequent schedule, and needs none of its own. Throws only where the job is unknown.
   */
  async tick(name: string, bounds: RunBounds): Promise<readonly LastRun[]> {
    if (this.#find(name).isUrgent) return [await this.run(name, bounds)];
    const runs: LastRun[] = [];
    for (const job of this.list) {
      if (job.name !== name && (await isAskedFor(job))) runs.push(await this.run(job.name, bounds));
    }
    runs.push(await this.run(name, bounds));
    return runs;
  }

  /** Runs a job and keeps what came of it. Throws only where the job is unknown; a failed run is a LastRun too. */
  async run(name: string, bounds: RunBounds): Promise<LastRun> {
    const job = this.#find(name);
    const startedMs = this.#clock.nowMs();
    let outcome: JobOutcome;
    try {
      outcome = await job.run(bounds);
    } catch (error) {
      outcome = { done: false, succeeded: 0, figures: {}, failures: [messageOf(error)] };
    }
    const failures = outcome.failures.slice(0, MAX_FAILURES);
    const run = { job: name, ...outcome, failures, startedMs, endedMs: this.#clock.nowMs() };
    this.#onRun?.(run);
    const didNothing = outcome.succeeded === 0 && outcome.failures.length === 0;
    if (!job.isUrgent || !didNothing) await this.#keep(name, run).catch(() => undefined);
    return run;
  }

  #find(name: string): Job {
    const job = this.list.find(one => one.name === name);
    if (job === undefined) throw new Error(`there is no job ${name}`);
    return job;
  }

  /** The newest run that any process told of; undefined before the first. */
  async lastRun(name: string): Promise<LastRun | undefined> {
    return (await this.#catalog.states.read<LastRun | undefined>(stateOf(name), undefined)).value;
  }

  /** Whoever is later wins: it is for people, and no decision hangs on it. */
  async #keep(name: string, run: LastRun): Promise<void> {
    const { states } = this.#catalog;
    const before = await states.read<LastRun | undefined>(stateOf(name), undefined);
    await states.replace(stateOf(name), before, run);
  }
}

/** A job that cannot tell is run by its own schedule. */
async function isAskedFor(job: Job): Promise<boolean> {
  return (await job.isAskedFor?.().catch(() => false)) ?? false;
}

function stateOf(job: string): string {
  return `job/${job}`;
}
