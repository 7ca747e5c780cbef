/** Puts the store's services together over given stores: the same on one machine, in a function and in a test. */
import type { Config } from '../admin/config-fields.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { DEFAULT_GROUP_COMMIT, GroupCommitter } from '../ingest/group-commit.ts';
import { PushService } from '../ingest/push.ts';
import type { Clock } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { ChunkSource } from '../query/chunk-source.ts';
import { QueryEngine } from '../query/engine.ts';
import type { HttpContext } from './context.ts';

export interface Parts {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** See HttpContext. */
  readonly notReady: () => string | undefined;
}

export function assembleContext({ config, store, catalog, clock, notReady }: Parts): HttpContext {
  const { groupCommitWaitMs: waitMs, inlineMaxBytes } = config.logboom;
  const grouping = { ...DEFAULT_GROUP_COMMIT, waitMs, inlineMaxBytes };
  return {
    config,
    clock,
    push: new PushService(new GroupCommitter(store, catalog, clock, grouping), clock),
    engine: new QueryEngine({ catalog, source: new ChunkSource(store), clock }),
    limitsOf: () => config.limits,
    notReady,
  };
}
