/**
 * Scheduled jobs, called by a timer on one machine and by the scheduler of the account in functions. Every
 * job can be called at any time, twice at once, or not at all for a day. Leases prevent duplicate work, and
 * the next run continues what a run did not finish.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';

/** A run works until its time is up, or until it is aborted. */
export interface RunBounds {
  /** No work starts after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface JobOutcome {
  /** False: there is work left for the next run. */
  readonly done: boolean;
  /** Number of parts of the work that succeeded, such as days or walks, including those without work. */
  readonly succeeded: number;
  /** Counts of what was done, by name, for display. */
  readonly figures: Readonly<Record<string, number>>;
  /** Errors of parts of the work. The other parts were done. */
  readonly failures: readonly string[];
}

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(bounds: RunBounds): Promise<JobOutcome>;
  /** Returns true if a run was requested: the next tick of any job runs this job first. */
  isRequested?(): Promise<boolean>;
  /**
   * A frequent job that must not be delayed: its ticks run nothing else, and are recorded only if work was
   * done.
   */
  readonly isUrgent?: boolean;
}

/** The newest run of a job. */
export interface LastRun extends JobOutcome {
  readonly job: string;
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface JobsParts {
  readonly jobs: readonly Job[];
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Called after each run. Must not throw. */
  readonly onRun?: (run: LastRun) => void;
}

/** Maximum number of failures kept per run: enough for a diagnosis. */
const MAX_FAILURES = 20;

/** Returns true if everything that the run tried failed. */
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
   * Called by a schedule. Runs the requested jobs, then the named one, whose run is the last of the result.
   * So each request starts with the most frequent schedule and needs no separate one. Throws only if the job
   * is unknown.
   */
  async tick(name: string, bounds: RunBounds): Promise<readonly LastRun[]> {
    if (this.#find(name).isUrgent) return [await this.run(name, bounds)];
    const runs: LastRun[] = [];
    for (const job of this.list) {
      if (job.name !== name && (await isRequested(job))) runs.push(await this.run(job.name, bounds));
    }
    runs.push(await this.run(name, bounds));
    return runs;
  }

  /** Runs a job and stores the result. Throws only if the job is unknown. A failed run is also a LastRun. */
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
    if (job === undefined) throw new Error(`job ${name} does not exist`);
    return job;
  }

  /** Returns the newest run of any process, or undefined before the first. */
  async lastRun(name: string): Promise<LastRun | undefined> {
    return (await this.#catalog.states.read<LastRun | undefined>(stateOf(name), undefined)).value;
  }

  /** The last write wins: it is for display, and no decision depends on it. */
  async #keep(name: string, run: LastRun): Promise<void> {
    const { states } = this.#catalog;
    const before = await states.read<LastRun | undefined>(stateOf(name), undefined);
    await states.replace(stateOf(name), before, run);
  }
}

/** A job that cannot check this runs by its own schedule. */
async function isRequested(job: Job): Promise<boolean> {
  return (await job.isRequested?.().catch(() => false)) ?? false;
}

function stateOf(job: string): string {
  return `job/${job}`;
}
