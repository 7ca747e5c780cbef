/**
 * Writes the indexes of a stored day again, with the code of this version. Runs in a separate process, and sends its figures to the
 * parent.
 *
 *     index-day.ts DATA_DIR TENANT DAY
 */
import { join } from 'node:path';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { TABLE_FILE } from '../../local/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../shared/storage/index/syncer.ts';

export interface IndexingFigures {
  readonly seconds: number;
  readonly cpuS: number;
  readonly peakRssMb: number;
}

const LEASE_MS = 60_000;

const [dataDir, tenant, dayText] = process.argv.slice(2);
const day = Number(dayText);

async function indexDay(): Promise<IndexingFigures> {
  const store = await openFileObjectStore(dataDir);
  const table = await openSqliteTable(join(dataDir, TABLE_FILE));
  const [clock, ids] = [SYSTEM_CLOCK, SYSTEM_IDS];
  const catalog = new Catalog({ table, clock, ids });
  const indexes = new DayIndexes({ store, onBroken: error => console.error(error) });
  await removeIndexes(catalog);
  const syncer = new Syncer({ catalog, store, clock, ids, indexes, graceMs: 0 });
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  const signal = new AbortController().signal;
  const end = await syncer.syncDay({ tenant, day, force: true, untilMs: Infinity, signal });
  if (end !== 'synced') throw new Error(`${dataDir}: index sync ended with ${end}`);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedMs) / 1000;
  await table.close();
  return { seconds, cpuS: (user + system) / 1e6, peakRssMb: process.resourceUsage().maxRSS / 1024 };
}

async function removeIndexes(catalog: Catalog): Promise<void> {
  const snapshot = await catalog.day(tenant, day);
  if (snapshot === undefined) throw new Error(`${dataDir} has no day ${day} of ${tenant}`);
  const lease = await catalog.leases.take(dayLease(tenant, day), LEASE_MS);
  if (lease === undefined) throw new Error(`${dataDir}: another process works on the day`);
  const { records: _, ...item } = snapshot;
  await catalog.swap({ tenant, day: item, lease, removed: [], added: [], indexes: [], graceMs: 0 });
  await catalog.leases.release(lease);
}

const figures = await indexDay();
process.send!(figures, () => process.exit());
