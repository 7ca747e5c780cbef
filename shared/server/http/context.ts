/** Context of handlers: the store's services and the configuration. Handlers create none of these. */

import type { ClearableCache } from '../../base/model/idle-caches.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { SharedBodies } from '../../base/model/shared-bodies.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Insight } from '../../read/insight/insight.ts';
import type { Patterns } from '../../read/patterns/patterns.ts';
import type { ChunkSource } from '../../read/query/chunk-source.ts';
import type { QueryEngine } from '../../read/query/engine.ts';
import type { Visibility } from '../../read/query/visibility.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { GenerationNumbers } from '../../storage/catalog/generation-numbers.ts';
import type { Members } from '../../storage/catalog/members.ts';
import type { GroupStates, RuleStore } from '../../storage/catalog/rule-group.ts';
import type { DeleteService } from '../../upkeep/deletion/delete-service.ts';
import type { Maintenance } from '../../upkeep/maintenance/maintenance.ts';
import type { PushService } from '../../write/ingest/push.ts';
import type { Config, LogLevel } from '../admin/config-fields.ts';
import type { Metrics } from '../admin/metrics/metrics.ts';
import type { ServiceState } from '../admin/services.ts';
import type { ShutdownControl } from '../admin/shutdown.ts';
import type { TicketService } from '../auth/ticket-service.ts';
import type { TokenAudit } from '../auth/token-audit.ts';
import type { TokenService } from '../auth/token-service.ts';
import type { TokenVerifier } from '../auth/token-verifier.ts';
import type { CheckTemplate } from '../rules/validate-group.ts';
import type { UsageServices } from '../usage/usage.ts';
import type { Guard } from './guard.ts';

export interface HttpContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly push: Pick<PushService, 'push' | 'paced' | 'forget'>;
  readonly engine: QueryEngine;
  readonly insight: Insight;
  readonly reading: TailReading;
  readonly patterns: Patterns;
  readonly maintenance: Maintenance;
  readonly generations: GenerationNumbers;
  readonly deletes: DeleteService;
  readonly rules: RuleServices;
  readonly logLevel: LogLevelSetting;
  readonly members: Members;
  readonly access: AccessServices;
  readonly shutdown: ShutdownControl;
  /** Services of this process by name. */
  services(): ReadonlyMap<string, ServiceState>;
  /** Modules register their metrics at `metrics.registry`. */
  readonly metrics: Metrics;
  /** Text of `GET /metrics`: of this process, or of all function instances. */
  metricsText(): Promise<string>;
  readonly usage: UsageServices;
  /** Caches that are emptied when they are idle. */
  readonly caches: readonly ClearableCache[];
  /** Memory for large bodies of responses, if another thread sends them. */
  readonly bodies?: SharedBodies | undefined;
  /** Current limits, which may change while the program runs. */
  limitsOf(tenant: string): Limits;
  /** Runs a scheduled job now if this process has a timer. Otherwise the job waits for its schedule. */
  kick(job: string): void;
  /** Reason why the store is not ready; `undefined` if it is. */
  notReady(): string | undefined;
}

/** Access control and tokens. */
export interface AccessServices {
  readonly guard: Guard;
  readonly verifier: TokenVerifier;
  readonly tokens: TokenService;
  readonly tickets: TicketService;
  readonly audit: TokenAudit;
}

/** Services for reading the store outside of requests: live tails. */
interface TailReading {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly visibility: Visibility;
}

interface RuleServices {
  readonly store: RuleStore;
  /** States of groups after their last evaluation. */
  readonly states: GroupStates;
  readonly checkTemplate: CheckTemplate;
}

/** Minimum log level of this process and of every process that shares the setting. */
export interface LogLevelSetting {
  get(): Promise<LogLevel>;
  set(level: LogLevel): Promise<void>;
}
