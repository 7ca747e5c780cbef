/** Puts the store's services together over given stores: the same on one machine, in a function and in a test. */
import type { Config } from '../admin/config-fields.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { DEFAULT_GROUP_COMMIT, GroupCommitter } from '../ingest/group-commit.ts';
import { NO_OBSERVER } from '../ingest/observer.ts';
import { PushService } from '../ingest/push.ts';
import type { Clock, Ids } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { ChunkSource } from '../query/chunk-source.ts';
import { QueryEngine } from '../query/engine.ts';
import type { HttpContext } from './context.ts';

export interface Parts {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly ids: Ids;
  /** See HttpContext. */
  readonly notReady: () => string | undefined;
}

export function assembleContext({ config, store, catalog, clock, ids, notReady }: Parts): HttpContext {
  const { groupCommitWaitMs: waitMs, inlineMaxBytes } = config.logboom;
  const grouping = { ...DEFAULT_GROUP_COMMIT, waitMs, inlineMaxBytes };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options: grouping });
  return {
    config,
    clock,
    push: new PushService({ committer, clock, observer: NO_OBSERVER }),
    engine: new QueryEngine({ catalog, source: new ChunkSource(store), clock }),
    limitsOf: () => config.limits,
    notReady,
  };
}
