/** What handlers are given: the store's services and the configuration. No handler makes any of these. */

import type { ClearableCache } from '../../base/model/idle-caches.ts';
import type { Limits } from '../../base/model/limits.ts';
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
import type { Usage } from '../usage/usage.ts';
import type { Guard } from './guard.ts';

export interface HttpContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly push: Pick<PushService, 'push' | 'paced' | 'forget'>;
  readonly engine: QueryEngine;
  readonly insight: Insight;
  readonly reading: Reading;
  readonly patterns: Patterns;
  readonly maintenance: Maintenance;
  readonly generations: GenerationNumbers;
  readonly deletes: DeleteService;
  readonly rules: RuleServices;
  readonly logLevel: LogLevelSetting;
  readonly members: Members;
  readonly access: AccessServices;
  readonly shutdown: ShutdownControl;
  /** The parts of the process that answers, by name. */
  services(): ReadonlyMap<string, ServiceState>;
  /** `metrics.registry` is where a part gets metrics of its own. */
  readonly metrics: Metrics;
  /** What `GET /metrics` prints: of this process, or of all function instances. */
  metricsText(): Promise<string>;
  readonly usage: Usage;
  /** Caches that are emptied when nothing uses them. */
  readonly caches: readonly ClearableCache[];
  /** Those in force now: they may change while the program runs. */
  limitsOf(tenant: string): Limits;
  /** Asks for a run of a scheduled job now, where there is a timer to ask; otherwise it comes with the schedule. */
  kick(job: string): void;
  /** Why the store cannot serve now, or undefined where it can. */
  notReady(): string | undefined;
}

/** Who may call what, and the tokens that say so. */
export interface AccessServices {
  readonly guard: Guard;
  readonly verifier: TokenVerifier;
  readonly tokens: TokenService;
  readonly tickets: TicketService;
  readonly audit: TokenAudit;
}

/** What reads the store beside requests: live tails. */
export interface Reading {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly visibility: Visibility;
}

export interface RuleServices {
  readonly store: RuleStore;
  /** What is known of groups from their last evaluation. */
  readonly states: GroupStates;
  readonly checkTemplate: CheckTemplate;
}

/** The minimum log level, by this process and by whoever shares its setting. */
export interface LogLevelSetting {
  get(): Promise<LogLevel>;
  set(level: LogLevel): Promise<void>;
}
