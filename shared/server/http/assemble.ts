/**
 * Assembles the services of a store over given parts: the same on one machine, in a function and in a test. This module only
 * wires them. Defaults and decisions are in the modules of each part (assemble-push.ts, assemble-read.ts, ...).
 */

import { lazily } from '../../base/model/lazily.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import { DayIndexes } from '../../storage/index/day-indexes.ts';
import { DeleteService } from '../../upkeep/deletion/delete-service.ts';
import type { Job } from '../../upkeep/maintenance/jobs.ts';
import { reclaimJob } from '../../upkeep/maintenance/reclaim-job.ts';
import { addDeleteMetrics } from '../admin/metrics/delete-metrics.ts';
import { addJobMetrics } from '../admin/metrics/job-metrics.ts';
import { createMetrics } from '../admin/metrics/metrics.ts';
import { observeObjectStore } from '../admin/metrics/object-store-metrics.ts';
import { createUsage } from '../usage/usage.ts';
import { assembleAccess } from './assemble-access.ts';
import { assembleMaintenance } from './assemble-maintenance.ts';
import { type ContextParts, failureListener } from './assemble-parts.ts';
import { assemblePush } from './assemble-push.ts';
import { assembleRead } from './assemble-read.ts';
import { assembleRuleJob, assembleRules } from './assemble-rules.ts';
import { assembleStatus } from './assemble-status.ts';
import type { HttpContext } from './context.ts';

/**
 * In a function, services for pushes, queries and maintenance are created on first use: each function needs one of the
 * three, and its bundle loads the others only then (lib/parts-apart.ts).
 */
export function assembleContext(parts: ContextParts): HttpContext {
  const { config, catalog, clock, ids, usageRecords: records, metrics = createMetrics() } = parts;
  const { registry } = metrics;
  const limitsOf = parts.limitsOf ?? (() => config.limits);
  const kick = parts.kick ?? (() => undefined);
  const store = observeObjectStore(parts.store, { registry, clock });
  const usage = createUsage({ records, catalog, clock, ids, metrics, prices: config.logboom.prices });
  const scheduler = new FairScheduler({ weightOf: tenant => limitsOf(tenant).schedulingWeight });
  const sources = { ...parts, store, usage, scheduler, registry, limitsOf };
  const push = lazily(() => assemblePush({ ...sources, refusePushes: () => status.shutdown.refusePushes() }));
  const deletions = addDeleteMetrics(registry, { clock });
  const indexes = lazily(() => new DayIndexes({ store, onBroken: failureListener('day index', parts.log) }));
  const read = lazily(() => assembleRead({ ...sources, indexes: indexes() }));
  const rules = lazily(() => assembleRules(parts));
  const maintenance = lazily(() => {
    const ruleJob = assembleRuleJob({
      config,
      catalog,
      clock,
      store: rules().store,
      engine: { instant: (query, requester) => read().engine.instant(query, requester) },
      limitsOf,
      http: parts.http,
      registry,
    });
    return assembleMaintenance({
      config,
      store,
      catalog,
      indexes: indexes(),
      clock,
      ids,
      limitsOf: parts.limitsOf,
      foldTable: parts.foldTable,
      mergeOffload: parts.mergeOffload,
      readers: parts.objectReaders,
      otherJobs: [ruleJob, ...reclaimJobs({ ...parts, store })],
      onRun: addJobMetrics(registry),
      deletions,
    });
  });
  const deletes = lazily(
    () =>
      new DeleteService({
        deletes: catalog.deletes,
        generations: catalog.generations,
        clock,
        ids,
        cancelPeriodMs: config.compactor.deleteRequestCancelPeriodMs,
        onCreated: deletions.received,
      }),
  );
  const flush = async () => {
    await maintenance().flush.make();
    kick('compaction');
  };
  const status = assembleStatus({ ...parts, registry, flush });
  if (parts.isFleet !== true) for (const create of [push, read, maintenance]) create();
  return {
    config,
    clock,
    get push() {
      return push();
    },
    get engine() {
      return read().engine;
    },
    get insight() {
      return read().insight;
    },
    get reading() {
      return read().reading;
    },
    get patterns() {
      return read().patterns;
    },
    get caches() {
      return read().caches;
    },
    get maintenance() {
      return maintenance();
    },
    get deletes() {
      return deletes();
    },
    get rules() {
      return rules();
    },
    generations: catalog.generations,
    metrics,
    usage,
    kick,
    limitsOf,
    members: catalog.members,
    access: assembleAccess({
      config,
      catalog,
      clock,
      ids,
      registry,
      auditLog: parts.auditLog,
      trustsAuthorizer: parts.trustsAuthorizer,
    }),
    ...status,
    services: parts.services ?? (() => new Map()),
    notReady: parts.notReady,
  };
}

/** Only a thread that knows all readers of objects deletes them early. */
function reclaimJobs({
  config,
  store,
  catalog,
  clock,
  objectReaders: readers,
}: ContextParts): readonly Job[] {
  if (readers === undefined) return [];
  const { objectGraceMs: graceMs, collectionIntervalMs: collectionEveryMs } = config.logboom;
  return [reclaimJob({ catalog, store, clock, readers, graceMs, collectionEveryMs })];
}
