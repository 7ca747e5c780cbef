/** What handlers are given: the store's services and the configuration. No handler makes any of these. */
import type { Config } from '../admin/config-fields.ts';
import type { Metrics } from '../admin/metrics/metrics.ts';
import type { GenerationNumbers } from '../catalog/generation-numbers.ts';
import type { DeleteService } from '../deletion/delete-service.ts';
import type { PushService } from '../ingest/push.ts';
import type { Maintenance } from '../maintenance/maintenance.ts';
import type { Limits } from '../model/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { QueryEngine } from '../query/engine.ts';
import type { Insight } from '../query/insight/insight.ts';
import type { Usage } from '../usage/usage.ts';

export interface HttpContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly push: PushService;
  readonly engine: QueryEngine;
  readonly insight: Insight;
  readonly maintenance: Maintenance;
  readonly generations: GenerationNumbers;
  readonly deletes: DeleteService;
  /** `metrics.registry` is where a part gets metrics of its own. */
  readonly metrics: Metrics;
  readonly usage: Usage;
  /** Those in force now: they may change while the program runs. */
  limitsOf(tenant: string): Limits;
  /** Asks for a run of a scheduled job now, where there is a timer to ask; otherwise it comes with the schedule. */
  kick(job: string): void;
  /** Why the store cannot serve now, or undefined where it can. */
  notReady(): string | undefined;
}
