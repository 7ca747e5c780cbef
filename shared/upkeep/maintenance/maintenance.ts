/** Maintenance of the store: the scheduled jobs, and the maintenance that a request can start. */

import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Syncer } from '../../storage/index/syncer.ts';
import type { DayCompactor } from '../compaction/compactor.ts';
import type { TenantDay } from '../compaction/full-merges.ts';
import type { MergeTaskRunner } from '../compaction/merge-task.ts';
import type { TenantDeletion } from '../deletion/tenant-deletion.ts';
import { collectionJob } from './collection-job.ts';
import { compactionJob } from './compaction-job.ts';
import { type DeletionObserver, deletionJob } from './deletion-job.ts';
import { FlushRequest } from './flush-request.ts';
import { type Job, Jobs, type JobsParts, type RunBounds } from './jobs.ts';
import { type RetentionJobParts, retentionJob } from './retention-job.ts';
import { type MaintenanceStatus, maintenanceStatus } from './status.ts';
import { syncJob } from './sync-job.ts';
import { SyncState } from './sync-state.ts';

interface MaintenanceParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly compactor: DayCompactor;
  readonly syncer: Syncer;
  /** Removes entries. Undefined if and only if `removalEveryMs` is: then all entries are kept. */
  readonly removal?: Removal;
  /** See CollectionJobParts. */
  readonly foldTable?: () => Promise<boolean>;
  /** Jobs of other parts of the store. Their schedules are in the options. */
  readonly otherJobs?: readonly Job[];
  /** Runs a merge for another function (merge-task.ts). */
  readonly mergeTask?: MergeTaskRunner;
  /** See CompactionJobParts. */
  readonly daysAtOnce?: number | undefined;
  /** See CompactionJobParts. */
  readonly readers?: Pick<ObjectReaders, 'during'> | undefined;
  readonly options: MaintenanceOptions;
  /** See JobsParts. */
  readonly onRun?: JobsParts['onRun'];
}

export interface Removal {
  readonly deletion: TenantDeletion;
  readonly retention: Pick<RetentionJobParts, 'rewriter' | 'expiry' | 'limitsOf' | 'removedGraceMs'>;
  readonly observer?: DeletionObserver;
}

/** Interval of a job, for code that sets up timers without a store. */
export interface Schedule {
  readonly job: string;
  readonly everyMs: number;
}

/** Returns the schedule of every job that a store with these options has. */
export function schedulesOf(options: MaintenanceOptions): readonly Schedule[] {
  const { compactionEveryMs, collectionEveryMs, removalEveryMs, syncEveryMs, syncsIndexes, rulesEveryMs } =
    options;
  return [
    { job: 'compaction', everyMs: compactionEveryMs },
    { job: 'collection', everyMs: collectionEveryMs },
    ...(removalEveryMs === undefined
      ? []
      : [
          { job: 'deletion', everyMs: removalEveryMs },
          { job: 'retention', everyMs: removalEveryMs },
        ]),
    ...(syncsIndexes ? [{ job: 'index-sync', everyMs: syncEveryMs }] : []),
    ...(rulesEveryMs === undefined ? [] : [{ job: 'rules', everyMs: rulesEveryMs }]),
  ];
}

export interface MaintenanceOptions {
  readonly compactionEveryMs: number;
  readonly syncEveryMs: number;
  readonly collectionEveryMs: number;
  /** Interval of delete requests and retention. Undefined: nothing is removed. */
  readonly removalEveryMs?: number;
  /** False: the store has no index objects, and refuses requests to sync them. */
  readonly syncsIndexes: boolean;
  /**
   * Interval at which due rule groups are looked up. Undefined: rules are evaluated elsewhere, or not at all.
   */
  readonly rulesEveryMs?: number;
}

export class Maintenance {
  readonly jobs: Jobs;
  readonly sync: SyncState;
  readonly flush: FlushRequest;
  readonly syncsIndexes: boolean;
  /** Requests the full merges of a day from the next run of compaction. See CompactionJob.request. */
  readonly requestMerges: (day: TenantDay) => Promise<void>;
  readonly mergeTask: MergeTaskRunner | undefined;
  readonly #parts: MaintenanceParts;

  constructor(parts: MaintenanceParts) {
    const { catalog, store, clock, compactor, syncer, removal, options } = parts;
    this.#parts = parts;
    this.syncsIndexes = options.syncsIndexes;
    this.mergeTask = parts.mergeTask;
    this.sync = new SyncState({ catalog, clock });
    this.flush = new FlushRequest({ catalog, clock });
    const compaction = compactionJob({
      catalog,
      clock,
      compactor,
      syncer: options.syncsIndexes ? syncer : undefined,
      flush: this.flush,
      everyMs: options.compactionEveryMs,
      daysAtOnce: parts.daysAtOnce,
      readers: parts.readers,
    });
    this.requestMerges = day => compaction.request(day);
    const jobs: Job[] = [
      compaction,
      collectionJob({
        catalog,
        store,
        clock,
        foldTable: parts.foldTable,
        everyMs: options.collectionEveryMs,
      }),
    ];
    if (removal !== undefined && options.removalEveryMs !== undefined) {
      const { deletion, retention, observer } = removal;
      const everyMs = options.removalEveryMs;
      jobs.push(deletionJob({ deletes: catalog.deletes, clock, deletion, everyMs, observer }));
      jobs.push(retentionJob({ catalog, clock, ...retention, everyMs }));
    }
    if (options.syncsIndexes) {
      jobs.push(syncJob({ catalog, syncer, clock, state: this.sync, everyMs: options.syncEveryMs }));
    }
    jobs.push(...(parts.otherJobs ?? []));
    this.jobs = new Jobs({ jobs, catalog, clock, onRun: parts.onRun });
  }

  /** Reads every page of the backlog, up to a limit. For display, not for decisions. */
  status(): Promise<MaintenanceStatus> {
    const { catalog, clock } = this.#parts;
    return maintenanceStatus({ jobs: this.jobs, catalog, clock });
  }

  /**
   * Compacts and indexes the days of a tenant that `wants` accepts. Returns false if the time was up first.
   * Completed work stays. Throws the error of a day after the others are processed.
   */
  async flushTenant(
    tenant: string,
    bounds: RunBounds,
    wants: (day: number) => Promise<boolean>,
  ): Promise<boolean> {
    const { catalog, compactor, syncer } = this.#parts;
    const failures: unknown[] = [];
    let done = true;
    for await (const { day } of catalog.outstanding.daysOfTenant(tenant)) {
      bounds.signal.throwIfAborted();
      try {
        if (!(await wants(day))) continue;
        const report = await compactor.compactDay({ tenant, day, force: true, ...bounds });
        if (report.end === 'time' || report.end === 'busy') done = false;
        if (!this.syncsIndexes) continue;
        const end = await syncer.syncDay({ tenant, day, force: true, ...bounds });
        if (end === 'time' || end === 'busy') done = false;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return done;
  }
}
