/** Waits until compaction has merged a day that is over. */
import { join } from 'node:path';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { TABLE_FILE } from '../../local/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { FINAL_LEVEL } from '../../shared/upkeep/compaction/merge-sizes.ts';

const INTERVAL_MS = 2000;

/** Resolves if the store of another process has no push and no draft of the day, and is not merging it. */
export async function settledDay(dataDir: string, tenant: string, day: number): Promise<void> {
  const table = await openSqliteTable(join(dataDir, TABLE_FILE), { readOnly: true });
  try {
    for (let version: number | undefined; ; await SYSTEM_CLOCK.sleep(INTERVAL_MS)) {
      // A new catalog has nothing cached.
      const snapshot = await new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS }).day(tenant, day);
      const isMerged = snapshot?.records.every(({ level }) => level >= FINAL_LEVEL);
      if (isMerged && snapshot?.version === version) return;
      version = snapshot?.version;
    }
  } finally {
    await table.close();
  }
}
