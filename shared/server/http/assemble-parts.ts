/** Parts that a context is assembled from (assemble.ts). Each process, function and test provides its own. */

import type { Limits } from '../../base/model/limits.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { HttpClient } from '../../base/ports/http-client.ts';
import type { Invoker } from '../../base/ports/invoker.ts';
import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { PageCache } from '../../read/query/page-cache.ts';
import type { QueryMemory } from '../../read/query/query-memory.ts';
import type { TaskSizes } from '../../read/query/tasks/plan-tasks.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { FreshChunks } from '../../storage/catalog/fresh-chunks.ts';
import type { IngestExchange } from '../../storage/catalog/ingest-exchange.ts';
import type { UsageRecords } from '../../storage/catalog/usage-records.ts';
import type { PushServiceParts } from '../../write/ingest/push.ts';
import type { PushCounts } from '../../write/ingest/push-counts.ts';
import type { IngestRates, RatesLog } from '../../write/ingest/rates/ingest-rates.ts';
import type { Config } from '../admin/config-fields.ts';
import type { Metrics } from '../admin/metrics/metrics.ts';
import type { ServiceState } from '../admin/services.ts';
import type { ShutdownParts } from '../admin/shutdown.ts';
import type { AuditLog } from '../auth/token-audit.ts';
import type { ReadRuleFiles } from '../rules/local-rule-store.ts';
import type { MaintenanceSources } from './assemble-maintenance.ts';
import type { LogLevelSetting } from './context.ts';

export interface ContextParts {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Limits of a tenant. Default: those of the configuration. */
  readonly limitsOf?: (tenant: string) => Limits;
  readonly ids: Ids;
  /** Shares rate and stream limits between processes. Default: no such limits. */
  readonly ingestExchange?: IngestExchange;
  /** Existing rate and stream limits, or limits that another thread decides. Replaces `ingestExchange`. */
  readonly rates?: RateLimits;
  readonly log?: RatesLog;
  /** See AccessParts. */
  readonly auditLog?: AuditLog;
  /** Storage of usage. */
  readonly usageRecords: UsageRecords;
  /** Default: metrics of the store without process metrics. */
  readonly metrics?: Metrics;
  /** See HttpContext. Default: jobs only run by their schedule. */
  readonly kick?: (job: string) => void;
  /** See MaintenanceSources. */
  readonly foldTable?: () => Promise<boolean>;
  /** Reads the files of a local `ruler.storage`. Default: rules are in the store. */
  readonly readRuleFiles?: ReadRuleFiles;
  /** Default: a setting without effect on the log. */
  readonly logLevel?: LogLevelSetting;
  /** True in functions: status endpoints then show all instances. */
  readonly isFleet?: boolean;
  /** Identity of the process for settings that outlive it, and how it leaves and ends. Default: none. */
  readonly instance?: InstanceControl;
  /** Default: none. */
  readonly services?: () => ReadonlyMap<string, ServiceState>;
  /** Runs query tasks. Default: this thread scans everything. */
  readonly invoker?: Invoker;
  /** See MaintenanceSources. */
  readonly mergeOffload?: MaintenanceSources['mergeOffload'];
  /** Sizes of query tasks. Default: those for threads. */
  readonly taskSizes?: TaskSizes;
  /** Page cache of this thread. Default: a new one of the configured size. */
  readonly pages?: PageCache;
  /** Text of `GET /metrics`. Default: the metrics of this context. */
  readonly metricsText?: () => Promise<string>;
  /** Size of the results cache of this thread. Default: the configured size. */
  readonly resultCacheBytes?: number;
  /** Readers of objects in all threads, if this thread deletes unreferenced objects. */
  readonly objectReaders?: ObjectReaders | undefined;
  /** Memory budget of queries. Default: a new one of the configured size. */
  readonly queryMemory?: QueryMemory | undefined;
  /** Memory of pushes in all threads that share the limit. Default: only this thread. */
  readonly pushCounts?: PushCounts | undefined;
  /** Hands pushed chunks over to threads that query them. Default: they are read from the store. */
  readonly fresh?: FreshChunks | undefined;
  /** Name of this thread or function, for `explain`. Default: the process. */
  readonly ranIn?: string | undefined;
  /** See PushWorkParts. */
  readonly onLargePushEnd?: () => void;
  /** Sends alerts and recorded series. Default: they wait. */
  readonly http?: HttpClient;
  /** See GuardParts. */
  readonly trustsAuthorizer?: boolean | undefined;
  /** See HttpContext. */
  readonly notReady: () => string | undefined;
}

/** Rate limits. Without the optional methods, another process reports the streams. */
export type RateLimits = NonNullable<PushServiceParts['rates']> &
  Partial<Pick<IngestRates, 'activeStreams' | 'createdStreams' | 'demandOf'>>;

export type InstanceControl = Pick<ShutdownParts, 'instance' | 'leave' | 'terminate'>;

/** Returns a listener that logs failures of a component that the store can do without. */
export function failureListener(component: string, log: RatesLog | undefined): (error: Error) => void {
  return error => log?.warn({ component, err: error }, 'non-critical component failed');
}
