/** Puts the store's services together over given stores: the same on one machine, in a function and in a test. */

import type { Limits } from '../../base/model/limits.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { HttpClient } from '../../base/ports/http-client.ts';
import type { Invoker } from '../../base/ports/invoker.ts';
import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import { Insight } from '../../read/insight/insight.ts';
import { Patterns } from '../../read/patterns/patterns.ts';
import { ChunkSource } from '../../read/query/chunk-source.ts';
import { PageCache } from '../../read/query/page-cache.ts';
import { QueryMemory } from '../../read/query/query-memory.ts';
import { AnswerCache } from '../../read/query/tasks/answer-cache.ts';
import type { TaskSizes } from '../../read/query/tasks/plan-tasks.ts';
import { QueryWorkers } from '../../read/query/tasks/query-workers.ts';
import { Visibility } from '../../read/query/visibility.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { IngestExchange } from '../../storage/catalog/ingest-exchange.ts';
import type { RuleStore } from '../../storage/catalog/rule-group.ts';
import type { UsageRecords } from '../../storage/catalog/usage-records.ts';
import { DayIndexes } from '../../storage/index/day-indexes.ts';
import { DeleteFilterSource } from '../../upkeep/deletion/delete-filters.ts';
import { DeleteService } from '../../upkeep/deletion/delete-service.ts';
import { reclaimJob } from '../../upkeep/maintenance/reclaim-job.ts';
import { DEFAULT_GROUP_COMMIT } from '../../write/ingest/group-commit.ts';
import { PushService, type PushServiceParts } from '../../write/ingest/push.ts';
import { PushBudget } from '../../write/ingest/push-budget.ts';
import type { PushCounts } from '../../write/ingest/push-counts.ts';
import { IngestRates, type RatesLog } from '../../write/ingest/rates/ingest-rates.ts';
import { UnmergedBound } from '../../write/ingest/unmerged-bound.ts';
import type { Config } from '../admin/config-fields.ts';
import { addCacheMetrics } from '../admin/metrics/cache-metrics.ts';
import { addStreamMetrics, ChunkMetrics } from '../admin/metrics/chunk-metrics.ts';
import { addDeleteMetrics } from '../admin/metrics/delete-metrics.ts';
import { addJobMetrics } from '../admin/metrics/job-metrics.ts';
import { createMetrics, type Metrics } from '../admin/metrics/metrics.ts';
import { observeObjectStore } from '../admin/metrics/object-store-metrics.ts';
import { addPageCacheMetrics } from '../admin/metrics/page-cache-metrics.ts';
import { addWorkerMetrics } from '../admin/metrics/worker-metrics.ts';
import type { ServiceState } from '../admin/services.ts';
import { Shutdown, type ShutdownParts } from '../admin/shutdown.ts';
import type { AuditLog } from '../auth/token-audit.ts';
import { LocalRuleStore, type ReadRuleFiles } from '../rules/local-rule-store.ts';
import { checkTemplate } from '../rules/template/check-template.ts';
import { ObservedCommitter } from '../usage/observed-committer.ts';
import { ObservedEngine } from '../usage/observed-engine.ts';
import { createUsage } from '../usage/usage.ts';
import { assembleAccess } from './assemble-access.ts';
import { assembleFleet } from './assemble-fleet.ts';
import { assembleMaintenance, type MaintenanceSources } from './assemble-maintenance.ts';
import { assembleRuleJob, NO_HTTP } from './assemble-rules.ts';
import type { HttpContext, LogLevelSetting } from './context.ts';

export interface Parts {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Limits of a tenant; without it all have those of the configuration. */
  readonly limitsOf?: (tenant: string) => Limits;
  readonly ids: Ids;
  /** How processes keep limits on rates and streams together; without it there are no such limits. */
  readonly ingestExchange?: IngestExchange;
  /** Limits on rates and streams that are made already, or decided in another place, instead of `ingestExchange`. */
  readonly rates?: RateLimits;
  readonly log?: RatesLog;
  /** See AccessParts. */
  readonly auditLog?: AuditLog;
  /** Where usage is kept. */
  readonly usageRecords: UsageRecords;
  /** Default: metrics of the store, without those of the process. */
  readonly metrics?: Metrics;
  /** See HttpContext; without it scheduled jobs run when their schedule says so. */
  readonly kick?: (job: string) => void;
  /** See MaintenanceSources. */
  readonly foldTable?: () => Promise<boolean>;
  /** Files of `ruler.storage` where that is local; without it rules lie in the store. */
  readonly readRuleFiles?: ReadRuleFiles;
  /** Default: kept here, without effect on what is logged. */
  readonly logLevel?: LogLevelSetting;
  /** True in functions: status endpoints then tell of all instances. */
  readonly isFleet?: boolean;
  /** Who this is, for settings that outlive the process, and how it leaves and ends. Default: nobody, who does neither. */
  readonly instance?: InstanceControl;
  /** Default: none. */
  readonly services?: () => ReadonlyMap<string, ServiceState>;
  /** Who works on parts of queries; without it all is scanned in this thread. */
  readonly invoker?: Invoker;
  /** See MaintenanceSources. */
  readonly mergesElsewhere?: MaintenanceSources['mergesElsewhere'];
  /** Of tasks that it is given. Default: those for threads. */
  readonly taskSizes?: TaskSizes;
  /** The cache of pages of this thread. Default: a new one of the configured size. */
  readonly pages?: PageCache;
  /** What `GET /metrics` prints. Default: the metrics of this context. */
  readonly metricsText?: () => Promise<string>;
  /** Of the results cache in this thread. Default: the configured size. */
  readonly resultCacheBytes?: number;
  /** Who reads objects, if this thread deletes those that nobody reads any more. */
  readonly objectReaders?: ObjectReaders | undefined;
  /** What queries hold. Default: a new one of the configured size. */
  readonly queryMemory?: QueryMemory | undefined;
  /** What pushes hold, of this thread and of those that share the bound. Default: of this thread alone. */
  readonly pushCounts?: PushCounts | undefined;
  /** Name of this thread or function, for `explain`. Default: the process. */
  readonly place?: string | undefined;
  /** See PushWorkParts. */
  readonly onLargePushEnd?: () => void;
  /** Takes alerts and recorded series to their receivers; without it they wait. */
  readonly http?: HttpClient;
  /** See GuardParts. */
  readonly trustsAuthorizer?: boolean | undefined;
  /** See HttpContext. */
  readonly notReady: () => string | undefined;
}

/** Without figures, others tell of the streams. */
export type RateLimits = NonNullable<PushServiceParts['rates']> &
  Partial<Pick<IngestRates, 'activeStreams' | 'createdStreams' | 'demandOf'>>;

/** Only processes that share a distant table hear of each other's pushes. */
function unmergedBoundOf(
  { store, catalog, clock, log }: Pick<Parts, 'store' | 'catalog' | 'clock' | 'log'>,
  maxChunks: number,
): UnmergedBound | undefined {
  if (store.isDistant !== true) return undefined;
  return new UnmergedBound({ chunksOf: tenant => catalog.unmerged.of(tenant), maxChunks, clock, log });
}

export function assembleContext({
  config,
  store: plainStore,
  catalog,
  clock,
  ids,
  ...given
}: Parts): HttpContext {
  const { groupCommitWaitMs: waitMs, inlineMaxBytes } = config.logboom;
  const minesPatterns = config.patternIngester.enabled;
  const grouping = { ...DEFAULT_GROUP_COMMIT, waitMs, inlineMaxBytes, minesPatterns };
  const { usageRecords: records, metrics = createMetrics() } = given;
  const store = observeObjectStore(plainStore, { registry: metrics.registry, clock });
  const usage = createUsage({ records, catalog, clock, ids, metrics, prices: config.logboom.prices });
  const chunks = new ChunkMetrics(metrics.registry, {
    maxGroupBytes: grouping.maxGroupBytes,
    load: () => committer.load,
  });
  const limitsOf = given.limitsOf ?? (() => config.limits);
  const scheduler = new FairScheduler({ weightOf: tenant => limitsOf(tenant).schedulingWeight });
  const committer: ObservedCommitter = new ObservedCommitter(
    {
      store,
      catalog,
      clock,
      ids,
      options: grouping,
      onWritten: chunks.written,
      scheduler,
      demandOf: tenant => rates?.demandOf?.(tenant),
    },
    usage.onStored,
    chunks.failed,
  );
  const exchange = given.ingestExchange;
  const rates: RateLimits | undefined =
    given.rates ?? (exchange && new IngestRates({ exchange, clock, ids, log: given.log }));
  const unmerged = unmergedBoundOf(
    { store, catalog, clock, log: given.log },
    config.logboom.maxUnmergedChunks,
  );
  addStreamMetrics(metrics.registry, {
    streams: () => rates?.activeStreams?.() ?? [],
    created: () => rates?.createdStreams?.() ?? [],
  });
  const deletions = addDeleteMetrics(metrics.registry, { clock });
  const indexes = new DayIndexes({ store, onBroken: failureOf('day index', given.log) });
  const visibility = new Visibility({
    masks: new DeleteFilterSource({ deletes: catalog.deletes, clock }),
    limitsOf,
    enabled: config.compactor.retentionEnabled,
  });
  const pages =
    given.pages ?? new PageCache(config.logboom.pageCacheBytes, { keepsFirst: store.isDistant === true });
  addPageCacheMetrics(metrics.registry, () => pages.figures);
  const source = new ChunkSource(store, pages, scheduler);
  const answers = new AnswerCache(given.resultCacheBytes ?? config.logboom.queryResultCacheBytes);
  const workers =
    given.invoker && new QueryWorkers(given.invoker, { cache: answers, sizes: given.taskSizes });
  const memory = given.queryMemory ?? new QueryMemory(config.logboom.queryMemoryBytes);
  addWorkerMetrics(metrics.registry, { workers, memory, answers });
  const { place } = given;
  const reading = { catalog, source, clock, indexes, visibility, workers, answers, memory, place };
  const insight = new Insight(reading);
  const caches = {
    ...source.caches,
    ...indexes.caches,
    ...catalog.caches,
    ...insight.caches,
    results: answers,
  };
  addCacheMetrics(metrics.registry, caches);
  const engine = new ObservedEngine(reading, usage.onAnswered);
  const ruleStore = ruleStoreOf({ config, catalog, clock, ...given });
  const rules = assembleRuleJob({
    config,
    catalog,
    clock,
    store: ruleStore,
    engine,
    limitsOf,
    http: given.http ?? NO_HTTP,
    registry: metrics.registry,
  });
  const { objectReaders: readers } = given;
  const { objectGraceMs: graceMs, collectionIntervalMs: collectionEveryMs } = config.logboom;
  const reclaiming =
    readers === undefined ? [] : [reclaimJob({ catalog, store, clock, readers, graceMs, collectionEveryMs })];
  const maintenance = assembleMaintenance({
    config,
    store,
    catalog,
    indexes,
    clock,
    ids,
    limitsOf: given.limitsOf,
    foldTable: given.foldTable,
    mergesElsewhere: given.mergesElsewhere,
    otherJobs: [rules, ...reclaiming],
    onRun: addJobMetrics(metrics.registry),
    deletions,
  });
  const flush = async () => {
    await maintenance.flush.make();
    given.kick?.('compaction');
  };
  const logLevel = given.logLevel ?? levelOf(config);
  const { registry } = metrics;
  const ofStatus =
    given.isFleet === true
      ? assembleFleet({ catalog, clock, registry, logLevel, flush })
      : {
          shutdown: new Shutdown({ ...(given.instance ?? NOBODY), states: catalog.states, flush }),
          logLevel,
          metricsText: given.metricsText ?? (() => registry.text()),
        };
  return {
    config,
    clock,
    push: new PushService({
      committer,
      clock,
      scheduler,
      budget: new PushBudget({ counts: given.pushCounts }),
      onLargeEnd: given.onLargePushEnd,
      observer: usage.observer,
      rates,
      admit: tenant => {
        ofStatus.shutdown.refusePushes();
        unmerged?.admit(tenant);
      },
    }),
    engine,
    insight,
    reading,
    patterns: new Patterns({ ...reading, store }),
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
    caches: [pages, ...Object.values(caches)],
    kick: given.kick ?? (() => undefined),
    limitsOf,
    members: catalog.members,
    access: assembleAccess({
      config,
      catalog,
      clock,
      ids,
      registry,
      auditLog: given.auditLog,
      trustsAuthorizer: given.trustsAuthorizer,
    }),
    ...ofStatus,
    services: given.services ?? (() => new Map()),
    notReady: given.notReady,
  };
}

function ruleStoreOf({
  config,
  catalog,
  clock,
  readRuleFiles: read,
  log,
}: Pick<Parts, 'config' | 'catalog' | 'clock' | 'readRuleFiles' | 'log'>): RuleStore {
  if (read === undefined) return catalog.ruleGroups;
  return new LocalRuleStore({
    read,
    clock,
    pollMs: config.ruler.pollIntervalMs,
    check: checkTemplate,
    onBroken: failureOf('rule files', log),
  });
}

/** Logs failures of a component that the store can do without. */
function failureOf(component: string, log: RatesLog | undefined): (error: Error) => void {
  return error => log?.warn({ component, err: error }, 'non-critical component failed');
}

function levelOf({ server }: Config): LogLevelSetting {
  let level = server.logLevel;
  return {
    get: async () => level,
    set: async wanted => {
      level = wanted;
    },
  };
}

export type InstanceControl = Pick<ShutdownParts, 'instance' | 'leave' | 'terminate'>;

const NOBODY: InstanceControl = {
  instance: 'process',
  leave: async () => undefined,
  terminate: () => undefined,
};
