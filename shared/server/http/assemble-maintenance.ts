/** Assembles maintenance: compaction, deletion, retention, index sync, garbage collection. */

import type { Limits } from '../../base/model/limits.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { Invoker } from '../../base/ports/invoker.ts';
import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { DayIndexes } from '../../storage/index/day-indexes.ts';
import { indexAnswer, indexHelpersOf, indexTaskOf } from '../../storage/index/index-task.ts';
import { Syncer } from '../../storage/index/syncer.ts';
import { Compactor, type CompactorOptions } from '../../upkeep/compaction/compactor.ts';
import type { DayRewriterParts } from '../../upkeep/compaction/day-rewriter.ts';
import { sizesOfParts } from '../../upkeep/compaction/merge-sizes.ts';
import {
  helpersOf,
  type MergeHelpers,
  type MergeTaskRunner,
  runMergeTask,
} from '../../upkeep/compaction/merge-task.ts';
import { DELETE_TIMES, type DeleteTimes } from '../../upkeep/deletion/delete-times.ts';
import { MergeDrops } from '../../upkeep/deletion/merge-drops.ts';
import { TenantDeletion } from '../../upkeep/deletion/tenant-deletion.ts';
import type { DeletionObserver } from '../../upkeep/maintenance/deletion-job.ts';
import type { Job, JobsParts } from '../../upkeep/maintenance/jobs.ts';
import { Maintenance, type Removal } from '../../upkeep/maintenance/maintenance.ts';
import type { Config } from '../admin/config-fields.ts';
import { maintenanceOptions } from './maintenance-options.ts';

export interface MaintenanceSources {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  readonly indexes: DayIndexes;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Default: the limits of the configuration. */
  readonly limitsOf?: (tenant: string) => Limits;
  /** Removes deleted data from the log of a local table. Resolves to false if it must be retried later. */
  readonly foldTable?: () => Promise<boolean>;
  /** Shorter times for tests. Default: DELETE_TIMES. */
  readonly deleteTimes?: DeleteTimes;
  /** Observers for metrics; see JobsParts and DeletionJobParts. */
  readonly onRun?: JobsParts['onRun'];
  readonly deletions?: DeletionObserver;
  /** Lets other functions or threads merge. `here` runs a merge in this thread. Default: this thread runs all merges. */
  readonly mergeOffload?: (here: Invoker) => MergeOffload;
  /** See CompactionJobParts. */
  readonly readers?: ObjectReaders | undefined;
  /** See MaintenanceParts. */
  readonly otherJobs?: readonly Job[];
}

/** Runs merges in other functions or threads. */
export interface MergeOffload extends Pick<Invoker, 'invoke'> {
  /** Default: those for functions. */
  readonly options?: Omit<MergeHelpers, 'merge'>;
  /** See CompactionJobParts. */
  readonly daysAtOnce?: number;
}

function compactorOptions({ logboom, patternIngester }: Config): CompactorOptions {
  const { objectGraceMs: graceMs, compactionTargetBytes: targetBytes, inlineMaxBytes } = logboom;
  const dividesStreams = logboom.streamPartBytes > 0 || undefined;
  const mergeSizes = dividesStreams && sizesOfParts(logboom.streamPartBytes);
  const minesPatterns = patternIngester.enabled;
  return { targetBytes, inlineMaxBytes, graceMs, dividesStreams, mergeSizes, minesPatterns };
}

export function assembleMaintenance(sources: MaintenanceSources): Maintenance {
  const { config, store, catalog, indexes, clock, ids, limitsOf = () => config.limits } = sources;
  const isEnabled = config.compactor.retentionEnabled;
  const drops = new MergeDrops({ deletes: catalog.deletes, clock, limitsOf, isEnabled });
  const options = compactorOptions(config);
  const merging = { catalog, store, clock, ids, options, drops };
  const indexing = { catalog, store, clock, ids, indexes, graceMs: options.graceMs };
  const writer = new Syncer(indexing);
  // Functions that merge also write indexes.
  const mergeTask: MergeTaskRunner = async (bytes, signal) => {
    const text = JSON.parse(Buffer.from(bytes).toString()) as object;
    const indexTask = indexTaskOf(text);
    if (indexTask === undefined) return runMergeTask(merging, text, signal);
    return indexAnswer(await writer.writeOne(indexTask, signal));
  };
  const offload = sources.mergeOffload?.({
    slots: 1,
    invoke: (bytes, { signal }) => mergeTask(bytes, signal),
    close: async () => undefined,
  });
  const inFunctions = { most: config.logboom.maxCompactionFunctions };
  const helpersOptions = offload?.options ?? inFunctions;
  const helpers = offload && helpersOf(offload, helpersOptions);
  const indexHelpers = offload && indexHelpersOf(offload, helpersOptions.most);
  return new Maintenance({
    catalog,
    store,
    clock,
    compactor: new Compactor({ ...merging, helpers }),
    mergeTask,
    daysAtOnce: offload?.daysAtOnce,
    readers: sources.readers,
    syncer: new Syncer({ ...indexing, helpers: indexHelpers }),
    foldTable: sources.foldTable,
    otherJobs: sources.otherJobs,
    removal: isEnabled ? assembleRemoval({ ...sources, limitsOf }, merging) : undefined,
    options: maintenanceOptions(config),
    onRun: sources.onRun,
  });
}

function assembleRemoval(
  {
    config,
    store,
    catalog,
    clock,
    limitsOf,
    deleteTimes: times = DELETE_TIMES,
    deletions: observer,
  }: MaintenanceSources & Required<Pick<MaintenanceSources, 'limitsOf'>>,
  rewriter: DayRewriterParts,
): Removal {
  const { compactor } = config;
  return {
    deletion: new TenantDeletion({
      catalog,
      store,
      clock,
      rewriter,
      limitsOf,
      times,
      cancelPeriodMs: compactor.deleteRequestCancelPeriodMs,
      batchSize: compactor.deleteBatchSize,
    }),
    retention: {
      rewriter,
      limitsOf,
      removedGraceMs: compactor.retentionDeleteDelayMs,
    },
    observer,
  };
}
