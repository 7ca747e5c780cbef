import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSqliteTable, type SqliteTable } from '../../local/sqlite-table.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SavedItems } from '../../shared/storage/catalog/saved-items.ts';
import { manualClock } from '../support/manual-clock.ts';
import { savedItemsContract, savedLimitsContract } from './saved-items.contract.ts';

savedItemsContract('memory', async clock => ({ table: memoryTable({ clock }) }));

savedItemsContract('SQLite', async clock => {
  const directory = await mkdtemp(path.join(tmpdir(), 'logboom-saved-'));
  const opened: SqliteTable[] = [];
  const open = async () => {
    opened.push(await openSqliteTable(path.join(directory, 'table.db'), { clock }));
    return opened.at(-1)!;
  };
  return {
    table: await open(),
    another: open,
    async close() {
      for (const table of opened) await table.close();
      await rm(directory, { recursive: true });
    },
  };
});

savedLimitsContract('memory', async () => {
  const clock = manualClock();
  return new SavedItems({ table: memoryTable({ clock }), clock, ids: seededIds(3) });
});
