/**
 * Assembles the services of a store over given parts: the same on one machine, in a function and in a test. This module only
 * wires them. Defaults and decisions are in the modules of each part (assemble-push.ts, assemble-read.ts, ...).
 */

import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import type { RuleStore } from '../../storage/catalog/rule-group.ts';
import { DayIndexes } from '../../storage/index/day-indexes.ts';
import { DeleteService } from '../../upkeep/deletion/delete-service.ts';
import type { Job } from '../../upkeep/maintenance/jobs.ts';
import { reclaimJob } from '../../upkeep/maintenance/reclaim-job.ts';
import { addDeleteMetrics } from '../admin/metrics/delete-metrics.ts';
import { addJobMetrics } from '../admin/metrics/job-metrics.ts';
import { createMetrics } from '../admin/metrics/metrics.ts';
import { observeObjectStore } from '../admin/metrics/object-store-metrics.ts';
import { LocalRuleStore } from '../rules/local-rule-store.ts';
import { checkTemplate } from '../rules/template/check-template.ts';
import { createUsage } from '../usage/usage.ts';
import { assembleAccess } from './assemble-access.ts';
import { assembleMaintenance } from './assemble-maintenance.ts';
import { failureOf, type Parts } from './assemble-parts.ts';
import { assemblePush } from './assemble-push.ts';
import { assembleRead } from './assemble-read.ts';
import { assembleRuleJob, NO_HTTP } from './assemble-rules.ts';
import { assembleStatus } from './assemble-status.ts';
import type { HttpContext } from './context.ts';

export function assembleContext(parts: Parts): HttpContext {
  const { config, catalog, clock, ids, usageRecords: records, metrics = createMetrics() } = parts;
  const { registry } = metrics;
  const limitsOf = parts.limitsOf ?? (() => config.limits);
  const kick = parts.kick ?? (() => undefined);
  const store = observeObjectStore(parts.store, { registry, clock });
  const usage = createUsage({ records, catalog, clock, ids, metrics, prices: config.logboom.prices });
  const scheduler = new FairScheduler({ weightOf: tenant => limitsOf(tenant).schedulingWeight });
  const sources = { ...parts, store, usage, scheduler, registry, limitsOf };
  const push = assemblePush({ ...sources, refusePushes: () => status.shutdown.refusePushes() });
  const deletions = addDeleteMetrics(registry, { clock });
  const indexes = new DayIndexes({ store, onBroken: failureOf('day index', parts.log) });
  const { engine, insight, patterns, reading, caches } = assembleRead({ ...sources, indexes });
  const ruleStore = ruleStoreOf(parts);
  const { http = NO_HTTP } = parts;
  const rules = assembleRuleJob({
    config,
    catalog,
    clock,
    store: ruleStore,
    engine,
    limitsOf,
    http,
    registry,
  });
  const maintenance = assembleMaintenance({
    config,
    store,
    catalog,
    indexes,
    clock,
    ids,
    limitsOf: parts.limitsOf,
    foldTable: parts.foldTable,
    mergeOffload: parts.mergeOffload,
    otherJobs: [rules, ...reclaimJobs({ ...parts, store })],
    onRun: addJobMetrics(registry),
    deletions,
  });
  const flush = async () => {
    await maintenance.flush.make();
    kick('compaction');
  };
  const status = assembleStatus({ ...parts, registry, flush });
  return {
    config,
    clock,
    push,
    engine,
    insight,
    reading,
    patterns,
    maintenance,
    generations: catalog.generations,
    deletes: new DeleteService({
      deletes: catalog.deletes,
      generations: catalog.generations,
      clock,
      ids,
      cancelPeriodMs: config.compactor.deleteRequestCancelPeriodMs,
      onCreated: deletions.received,
    }),
    rules: { store: ruleStore, states: catalog.ruleStates, checkTemplate },
    metrics,
    usage,
    caches,
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

/** Rules are in the catalog, unless the configuration names a local folder. */
function ruleStoreOf({ config, catalog, clock, readRuleFiles: read, log }: Parts): RuleStore {
  if (read === undefined) return catalog.ruleGroups;
  return new LocalRuleStore({
    read,
    clock,
    pollMs: config.ruler.pollIntervalMs,
    check: checkTemplate,
    onBroken: failureOf('rule files', log),
  });
}

/** Only a thread that knows all readers of objects deletes them early. */
function reclaimJobs({ config, store, catalog, clock, objectReaders: readers }: Parts): readonly Job[] {
  if (readers === undefined) return [];
  const { objectGraceMs: graceMs, collectionIntervalMs: collectionEveryMs } = config.logboom;
  return [reclaimJob({ catalog, store, clock, readers, graceMs, collectionEveryMs })];
}
