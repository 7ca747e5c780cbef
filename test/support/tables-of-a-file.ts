/** Tables over one file, for the contract: the first one, and others that another process might open. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SqliteTable } from '../../local/sqlite-table.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { TableUnderTest } from '../ports/table.contract.ts';

export const newTableDirectory = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'logboom-table-'));

export function tablesOfAFile(
  openTable: (file: string, options: { readonly clock: Clock }) => Promise<SqliteTable>,
): (clock: Clock) => Promise<TableUnderTest> {
  return async clock => {
    const directory = await newTableDirectory();
    const opened: SqliteTable[] = [];
    const open = async (): Promise<SqliteTable> => {
      const table = await openTable(path.join(directory, 'table.db'), { clock });
      opened.push(table);
      return table;
    };
    return {
      table: await open(),
      another: open,
      close: async () => {
        for (const table of opened) await table.close();
        await rm(directory, { recursive: true });
      },
    };
  };
}
