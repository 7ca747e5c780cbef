/** Schedules of maintenance, from the configuration. */
import type { MaintenanceOptions } from '../../upkeep/maintenance/maintenance.ts';
import type { Config } from '../admin/config-fields.ts';

/** Maximum interval for finding due groups, so that a group is at most this late. */
const MAX_POLL_MS = 5000;

export function rulesEveryMs({ ruler }: Config): number {
  return Math.min(ruler.pollIntervalMs, MAX_POLL_MS);
}

export function maintenanceOptions(config: Config): MaintenanceOptions {
  const { compactor, logboom } = config;
  return {
    compactionEveryMs: compactor.compactionIntervalMs,
    syncEveryMs: logboom.indexSyncIntervalMs,
    collectionEveryMs: logboom.collectionIntervalMs,
    removalEveryMs: compactor.retentionEnabled ? compactor.compactionIntervalMs : undefined,
    syncsIndexes: logboom.indexSync,
    rulesEveryMs: rulesEveryMs(config),
  };
}
