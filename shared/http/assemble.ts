/** Puts the store's services together over given stores: the same on one machine, in a function and in a test. */
import type { Config } from '../admin/config-fields.ts';
import { createMetrics, type Metrics } from '../admin/metrics/metrics.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { IngestExchange } from '../catalog/ingest-exchange.ts';
import type { UsageRecords } from '../catalog/usage-records.ts';
import { DeleteService } from '../deletion/delete-service.ts';
import { MaskSource } from '../deletion/masks.ts';
import { DayIndexes } from '../index/day-indexes.ts';
import { DEFAULT_GROUP_COMMIT } from '../ingest/group-commit.ts';
import { PushService } from '../ingest/push.ts';
import { IngestRates, type RatesLog } from '../ingest/rates/ingest-rates.ts';
import type { Limits } from '../model/limits.ts';
import type { Clock, Ids } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { ChunkSource } from '../query/chunk-source.ts';
import { Insight } from '../query/insight/insight.ts';
import { Visibility } from '../query/visibility.ts';
import { ObservedCommitter } from '../usage/observed-committer.ts';
import { ObservedEngine } from '../usage/observed-engine.ts';
import { createUsage } from '../usage/usage.ts';
import { assembleMaintenance } from './assemble-maintenance.ts';
import type { HttpContext } from './context.ts';

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
  /** Where usage is kept. */
  readonly usageRecords: UsageRecords;
  /** Default: metrics of the store, without those of the process. */
  readonly metrics?: Metrics;
  /** See HttpContext; without it scheduled jobs run when their schedule says so. */
  readonly kick?: (job: string) => void;
  /** See MaintenanceSources. */
  readonly foldTable?: () => Promise<boolean>;
  /** Told of what is broken and can be done without. */
  readonly onBroken?: (error: Error) => void;
  /** See HttpContext. */
  readonly notReady: () => string | undefined;
}

export function assembleContext({ config, store, catalog, clock, ids, ...given }: Parts): HttpContext {
  const { groupCommitWaitMs: waitMs, inlineMaxBytes } = config.logboom;
  const grouping = { ...DEFAULT_GROUP_COMMIT, waitMs, inlineMaxBytes };
  const { usageRecords: records, metrics = createMetrics() } = given;
  const usage = createUsage({ records, catalog, clock, ids, metrics, prices: config.logboom.prices });
  const committer = new ObservedCommitter({ store, catalog, clock, ids, options: grouping }, usage.onStored);
  const exchange = given.ingestExchange;
  const rates = exchange && new IngestRates({ exchange, clock, ids, log: given.log });
  const indexes = new DayIndexes({ store, onBroken: given.onBroken ?? (() => undefined) });
  const limitsOf = given.limitsOf ?? (() => config.limits);
  const visibility = new Visibility({
    masks: new MaskSource({ deletes: catalog.deletes, clock }),
    limitsOf,
    enabled: config.compactor.retentionEnabled,
  });
  const reading = { catalog, source: new ChunkSource(store), clock, indexes, visibility };
  return {
    config,
    clock,
    push: new PushService({ committer, clock, observer: usage.observer, rates }),
    engine: new ObservedEngine(reading, usage.onAnswered),
    insight: new Insight(reading),
    maintenance: assembleMaintenance({
      config,
      store,
      catalog,
      indexes,
      clock,
      ids,
      limitsOf: given.limitsOf,
      foldTable: given.foldTable,
    }),
    generations: catalog.generations,
    deletes: new DeleteService({
      deletes: catalog.deletes,
      generations: catalog.generations,
      clock,
      ids,
      cancelPeriodMs: config.compactor.deleteRequestCancelPeriodMs,
    }),
    metrics,
    usage,
    kick: given.kick ?? (() => undefined),
    limitsOf,
    notReady: given.notReady,
  };
}
