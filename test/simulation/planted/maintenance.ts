/** Bugs of the maintenance. */

import type { Table, Write } from '../../../shared/base/ports/table.ts';
import { decodeDay } from '../../../shared/storage/catalog/day-item.ts';
import type { Bug } from './bug.ts';

/** Changes the transactions of swaps, which are those under a lease. */
function swapsChanged(table: Table, change: (writes: readonly Write[]) => readonly Write[]): Table {
  return {
    ...table,
    transact: writes => {
      const isSwap = writes.some(write => write.kind === 'check' && write.key.pk.startsWith('l/'));
      return table.transact(isSwap ? change(writes) : writes);
    },
  };
}

const removesChunks = (write: Write) => write.kind === 'delete' && write.key.pk.startsWith('c/');

export const publishesWithoutFencing: Bug = {
  name: 'publishes without the lease',
  maxSeeds: 600,
  breaks: ['swap-is-fenced'],
  table: table =>
    swapsChanged(table, writes =>
      writes.filter(write => write.kind !== 'check' || !write.key.pk.startsWith('l/')),
    ),
};

export const publishesWithoutConditions: Bug = {
  name: 'publishes whatever happened meanwhile',
  maxSeeds: 600,
  breaks: ['swap-is-fenced', 'swap-raises-version', 'swap-keeps-entries'],
  table: table =>
    swapsChanged(table, writes =>
      writes
        .filter(write => write.kind !== 'check')
        .map(write =>
          write.kind === 'put'
            ? { kind: 'put', item: write.item }
            : { kind: 'delete', key: (write as Extract<Write, { kind: 'delete' }>).key },
        ),
    ),
};

export const swapsWithoutRaisingTheVersion: Bug = {
  name: 'swaps without raising the version',
  maxSeeds: 20,
  breaks: ['swap-raises-version'],
  table: table =>
    swapsChanged(table, writes =>
      // In the step that removes the inputs: the step before would find the version of the first missing.
      writes.map(write => {
        const isDay = write.kind === 'put' && write.item.pk.startsWith('d/');
        if (!isDay || !writes.some(removesChunks)) return write;
        const { version } = decodeDay(write.item);
        return { ...write, item: { ...write.item, version: version - 1 } };
      }),
    ),
};

export const losesAnInput: Bug = {
  name: 'removes an input that it did not merge',
  maxSeeds: 100,
  breaks: ['swap-keeps-entries'],
  // Two chunks of the day go, and only what the table gave as the first of its partition was merged.
  table: table => {
    let hidden: { readonly pk: string; readonly sk: string } | undefined;
    return {
      ...swapsChanged(table, writes =>
        hidden === undefined ||
        !writes.some(removesChunks) ||
        writes.some(write => write.kind === 'delete' && write.key.sk === hidden?.sk)
          ? writes
          : [...writes, { kind: 'delete', key: hidden }],
      ),
      query: async (pk, options) => {
        const page = await table.query(pk, options);
        if (!pk.startsWith('c/') || page.items.length < 2) return page;
        const [{ sk }] = page.items;
        hidden = { pk, sk };
        return page;
      },
    };
  },
};

export const collectsWithoutGrace: Bug = {
  name: 'deletes objects at once',
  maxSeeds: 600,
  knownSeed: 6,
  breaks: ['readers-miss-no-object'],
  graceMs: 0,
};
