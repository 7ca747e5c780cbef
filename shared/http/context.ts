/** What handlers are given: the store's services and the configuration. No handler makes any of these. */
import type { Config } from '../admin/config-fields.ts';
import type { PushService } from '../ingest/push.ts';
import type { Limits } from '../model/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { QueryEngine } from '../query/engine.ts';

export interface HttpContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly push: PushService;
  readonly engine: QueryEngine;
  limitsOf(tenant: string): Limits;
  /** Why the store cannot serve now, or undefined where it can. */
  notReady(): string | undefined;
}
