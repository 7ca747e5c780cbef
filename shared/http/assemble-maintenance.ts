/** Puts together what keeps the store in shape: compaction, index sync, collection. */
import type { Config } from '../admin/config-fields.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { Compactor } from '../compaction/compactor.ts';
import type { DayIndexes } from '../index/day-indexes.ts';
import { Syncer } from '../index/syncer.ts';
import { Maintenance, type MaintenanceOptions } from '../maintenance/maintenance.ts';
import type { Clock, Ids } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/object-store.ts';

export interface MaintenanceSources {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  readonly indexes: DayIndexes;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function maintenanceOptions({ compactor, logboom }: Config): MaintenanceOptions {
  return {
    compactionEveryMs: compactor.compactionIntervalMs,
    syncEveryMs: logboom.indexSyncIntervalMs,
    collectionEveryMs: logboom.collectionIntervalMs,
    syncsIndexes: logboom.indexSync,
  };
}

export function assembleMaintenance(sources: MaintenanceSources): Maintenance {
  const { config, store, catalog, indexes, clock, ids } = sources;
  const { objectGraceMs: graceMs, compactionTargetBytes: targetBytes, inlineMaxBytes } = config.logboom;
  return new Maintenance({
    catalog,
    store,
    clock,
    compactor: new Compactor({
      catalog,
      store,
      clock,
      ids,
      options: { targetBytes, inlineMaxBytes, graceMs },
    }),
    syncer: new Syncer({ catalog, store, clock, ids, indexes, graceMs }),
    options: maintenanceOptions(config),
  });
}
