/** Puts the store's services together over given stores: the same on one machine, in a function and in a test. */
import type { Config } from '../admin/config-fields.ts';
import { addCacheMetrics } from '../admin/metrics/cache-metrics.ts';
import { addStreamMetrics, ChunkMetrics } from '../admin/metrics/chunk-metrics.ts';
import { addDeleteMetrics } from '../admin/metrics/delete-metrics.ts';
import { addJobMetrics } from '../admin/metrics/job-metrics.ts';
import { createMetrics, type Metrics } from '../admin/metrics/metrics.ts';
import { observeObjectStore } from '../admin/metrics/object-store-metrics.ts';
import { addPageCacheMetrics } from '../admin/metrics/page-cache-metrics.ts';
import {
  addElsewhereMetrics,
  addPushesElsewhere,
  addWorkerMetrics,
} from '../admin/metrics/worker-metrics.ts';
import type { ServiceState } from '../admin/services.ts';
import { Shutdown, type ShutdownParts } from '../admin/shutdown.ts';
import type { AuditLog } from '../auth/token-audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { IngestExchange } from '../catalog/ingest-exchange.ts';
import type { RuleStore } from '../catalog/rule-group.ts';
import type { UsageRecords } from '../catalog/usage-records.ts';
import { DeleteService } from '../deletion/delete-service.ts';
import { MaskSource } from '../deletion/masks.ts';
import { DayIndexes } from '../index/day-indexes.ts';
import { DEFAULT_GROUP_COMMIT } from '../ingest/group-commit.ts';
import { type PushesElsewhere, PushService } from '../ingest/push.ts';
import type { PushHub } from '../ingest/push-hub.ts';
import { PushTurns } from '../ingest/push-turns.ts';
import { IngestRates, type RatesLog } from '../ingest/rates/ingest-rates.ts';
import { Insight } from '../insight/insight.ts';
import type { Limits } from '../model/limits.ts';
import { Patterns } from '../patterns/patterns.ts';
import type { Clock, Ids } from '../ports/clock.ts';
import type { HttpClient } from '../ports/http-client.ts';
import type { Invoker } from '../ports/invoker.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { ChunkSource } from '../query/chunk-source.ts';
import type { QueriesElsewhere } from '../query/engine.ts';
import { PageCache } from '../query/page-cache.ts';
import { QueryMemory } from '../query/query-memory.ts';
import { ScanTurns } from '../query/scan-turns.ts';
import { AnswerCache } from '../query/tasks/answer-cache.ts';
import { QueryWorkers } from '../query/tasks/query-workers.ts';
import { WantedRoom } from '../query/tasks/room-here.ts';
import { TenantLoad, type TenantLoadOptions } from '../query/tenant-load.ts';
import { Visibility } from '../query/visibility.ts';
import { LocalRuleStore, type ReadRuleFiles } from '../rules/local-rule-store.ts';
import { checkTemplate } from '../rules/template/check-template.ts';
import { ObservedCommitter } from '../usage/observed-committer.ts';
import { ObservedEngine } from '../usage/observed-engine.ts';
import { createUsage } from '../usage/usage.ts';
import { assembleAccess } from './assemble-access.ts';
import { assembleFleet } from './assemble-fleet.ts';
import { assembleMaintenance, type DaysElsewhere } from './assemble-maintenance.ts';
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
  readonly daysElsewhere?: DaysElsewhere;
  /** See MaintenanceSources. */
  readonly foldTable?: () => Promise<boolean>;
  /** Files of `ruler.storage` where that is local; without it rules lie in the store. */
  readonly readRuleFiles?: ReadRuleFiles;
  /** Told of what is broken and can be done without. */
  readonly onBroken?: (error: Error) => void;
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
  /** Who answers large queries while others want this thread; needs `busyShare`. Without it they are answered here. */
  readonly queriesElsewhere?: QueriesElsewhere['ask'];
  /** Makes who works on large pushes while others want this thread; needs `busyShare`. Without it all are worked on here. */
  readonly pushesElsewhere?: (hub: PushHub) => PushesElsewhere;
  /** See TenantLoadOptions. */
  readonly beginBeside?: TenantLoadOptions['beginBeside'];
  /** Of the cache of pages in this thread. Default: the configured size. */
  readonly pageCacheBytes?: number;
  /** Of results that are kept by this thread, and what its queries may hold. Default: the configured sizes. */
  readonly resultCacheBytes?: number;
  readonly queryMemoryBytes?: number;
  /** How busy this thread has been lately, 0 to 1: then pages of queries give way to pushes. Default: never so busy. */
  readonly busyShare?: () => number;
  /** Takes alerts and recorded series to their receivers; without it they wait. */
  readonly http?: HttpClient;
  /** See GuardParts. */
  readonly trustsAuthorizer?: boolean | undefined;
  /** See HttpContext. */
  readonly notReady: () => string | undefined;
}

/** Above it the thread has little time left for what comes. */
const PRESSED_SHARE = 0.75;
/** Who pushes one body after the other pushes all the time: the next one is on its way, or being decoded. */
const BETWEEN_PUSHES_MS = 50;

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
  // Without a thread that others want there is nobody to give way to.
  const load = given.busyShare && new TenantLoad({ beginBeside: given.beginBeside });
  const sleep: Clock['sleep'] = (ms, signal) => clock.sleep(ms, signal);
  const pushTurns = new PushTurns(load && { load, sleep });
  const committer: ObservedCommitter = new ObservedCommitter(
    { store, catalog, clock, ids, options: grouping, onWritten: chunks.written, turns: pushTurns },
    usage.onStored,
    chunks.failed,
  );
  const exchange = given.ingestExchange;
  const rates = exchange && new IngestRates({ exchange, clock, ids, log: given.log });
  addStreamMetrics(metrics.registry, {
    streams: () => rates?.activeStreams() ?? [],
    created: () => rates?.createdStreams() ?? [],
  });
  const deletions = addDeleteMetrics(metrics.registry, { clock });
  const indexes = new DayIndexes({ store, onBroken: given.onBroken ?? (() => undefined) });
  const limitsOf = given.limitsOf ?? (() => config.limits);
  const visibility = new Visibility({
    masks: new MaskSource({ deletes: catalog.deletes, clock }),
    limitsOf,
    enabled: config.compactor.retentionEnabled,
  });
  const pages = new PageCache(given.pageCacheBytes ?? config.logboom.pageCacheBytes);
  addPageCacheMetrics(metrics.registry, () => pages.figures);
  const { busyShare } = given;
  let pushedMs = Number.NEGATIVE_INFINITY;
  const isPressed =
    busyShare &&
    (() => {
      const nowMs = clock.nowMs();
      if (committer.running > 0 || (pushesElsewhere?.running ?? 0) > 0) pushedMs = nowMs;
      return nowMs - pushedMs <= BETWEEN_PUSHES_MS && busyShare() > PRESSED_SHARE;
    });
  const room = isPressed && new WantedRoom({ isPressed, nowMs: () => clock.nowMs() });
  const turns = new ScanTurns(
    room && {
      load,
      isPressed,
      sleep,
      hasOthers: tenant => room.hasOthers(tenant),
    },
  );
  const source = new ChunkSource(store, pages, turns);
  addCacheMetrics(metrics.registry, { ...source.caches, ...indexes.caches, ...catalog.caches });
  const answers = new AnswerCache(given.resultCacheBytes ?? config.logboom.queryResultCacheBytes);
  const workers =
    given.invoker && new QueryWorkers(given.invoker, { cache: answers, ...(room && { room: room.of }) });
  const memory = new QueryMemory(given.queryMemoryBytes ?? config.logboom.queryMemoryBytes);
  addWorkerMetrics(metrics.registry, { workers, memory, answers });
  const reading = { catalog, source, clock, indexes, visibility, workers, answers, memory };
  const onAsked = room && ((tenant: string) => room.note(tenant));
  const ask = given.queriesElsewhere;
  const elsewhere = room && ask && { roomOf: (tenant: string) => room.of(tenant, Infinity), ask };
  if (elsewhere !== undefined) addElsewhereMetrics(metrics.registry, () => engine.askedElsewhere);
  const engine: ObservedEngine = new ObservedEngine({ ...reading, onAsked, elsewhere }, usage.onAnswered);
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
  const maintenance = assembleMaintenance({
    config,
    store,
    catalog,
    indexes,
    clock,
    ids,
    limitsOf: given.limitsOf,
    daysElsewhere: given.daysElsewhere,
    foldTable: given.foldTable,
    otherJobs: [rules],
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
          metricsText: () => registry.text(),
        };
  const pushesElsewhere: PushesElsewhere | undefined =
    load &&
    room &&
    given.pushesElsewhere?.({
      grouping,
      load,
      observer: usage.observer,
      // Who is held back for pushes wants all that is left of the cores: then a thread that stands behind would get too little.
      isWanted: tenant => room.hasOthers(tenant) && !turns.holdsOthersBack(tenant),
      decideRates: async (tenant, asked) => rates?.decide(tenant, limitsOf(tenant), asked) ?? { kind: 'all' },
      addChunks: records => catalog.addChunks(records),
      onWritten: chunks.written,
      onStored: usage.onStored,
      onFailed: chunks.failed,
    });
  if (pushesElsewhere !== undefined) addPushesElsewhere(metrics.registry, () => pushesElsewhere.pushes);
  return {
    config,
    clock,
    push: new PushService({
      committer,
      elsewhere: pushesElsewhere,
      clock,
      turns: pushTurns,
      observer: usage.observer,
      rates,
      admit: tenant => {
        ofStatus.shutdown.refusePushes();
        room?.note(tenant);
      },
    }),
    engine,
    insight: new Insight(reading),
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
  onBroken = () => undefined,
}: Pick<Parts, 'config' | 'catalog' | 'clock' | 'readRuleFiles' | 'onBroken'>): RuleStore {
  if (read === undefined) return catalog.ruleGroups;
  return new LocalRuleStore({
    read,
    clock,
    pollMs: config.ruler.pollIntervalMs,
    check: checkTemplate,
    onBroken,
  });
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
