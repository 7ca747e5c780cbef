/** Bugs of the way between catalog and table. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Item, Table, Write } from '../../../shared/base/ports/table.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import type { DaySnapshot } from '../../../shared/storage/catalog/day-snapshot.ts';
import type { Dice } from '../dice.ts';
import type { Bug } from './bug.ts';

/** Passes the writes of every transaction through `change`; one that is left without writes does nothing. */
function changedTransactions(table: Table, change: (writes: readonly Write[]) => readonly Write[]): Table {
  return {
    ...table,
    transact: async writes => {
      const changed = change(writes);
      if (changed.length > 0) await table.transact(changed);
    },
  };
}

function changedItems(table: Table, change: (items: readonly Item[], pk: string) => readonly Item[]): Table {
  return {
    ...table,
    query: async (pk, options) => {
      const page = await table.query(pk, options);
      return { ...page, items: change(page.items, pk) };
    },
  };
}

const isChunk = (write: Write) => write.kind === 'put' && write.item.pk.startsWith('c/');

export const dropsARecord: Bug = {
  name: 'drops a record of a commit of several',
  maxSeeds: 20,
  breaks: ['acknowledged-is-found'],
  table: table =>
    changedTransactions(table, writes => {
      const chunks = writes.filter(isChunk);
      return chunks.length > 1 ? writes.filter(write => write !== chunks[1]) : writes;
    }),
};

export const announcesNoDay: Bug = {
  name: 'announces no day',
  maxSeeds: 5,
  breaks: ['day-is-announced'],
  table: table =>
    changedTransactions(table, writes =>
      writes.filter(write => write.kind !== 'put' || !write.item.pk.startsWith('d/')),
    ),
};

export const announcesNoWork: Bug = {
  name: 'announces no outstanding work',
  maxSeeds: 5,
  breaks: ['work-is-announced'],
  table: table =>
    changedTransactions(table, writes =>
      writes.filter(write => write.kind !== 'put' || !write.item.pk.startsWith('w/')),
    ),
};

export const readsFirstPages: Bug = {
  name: 'reads the first page of a partition only',
  maxSeeds: 10,
  breaks: ['acknowledged-is-found'],
  readTable: table => ({
    ...table,
    query: async (pk, options) => {
      const { items } = await table.query(pk, { ...options, limit: 2 });
      return { items };
    },
  }),
};

export const readsOtherTenants: Bug = {
  name: 'reads the chunks of another tenant',
  maxSeeds: 40,
  knownSeed: 9,
  // The reader may detect it first: the footer of a chunk names its owner, and that error never occurs in a
  // healthy store.
  breaks: ['tenants-apart', 'failures-are-named'],
  readTable: (table, dice: Dice) => ({
    ...table,
    query: (pk, options) => table.query(dice.chance(0.2) ? pk.replace('c/red/', 'c/blue/') : pk, options),
  }),
};

/** Lists without a check whether a swap happened meanwhile. */
export const readsChunksTwice: Bug = {
  name: 'reads the chunks of a partition twice',
  maxSeeds: 10,
  breaks: ['exactly-once'],
  readTable: table =>
    changedItems(table, (items, pk) => (pk.startsWith('c/') ? [...items, ...items] : items)),
};

/** Looks at the days once for each read: a swap in between goes unnoticed. */
class CarelessCatalog extends Catalog {
  readonly #reads = new AsyncLocalStorage<{ days?: ReturnType<Catalog['days']> }>();

  override snapshot(...range: Parameters<Catalog['snapshot']>): Promise<DaySnapshot[]> {
    return this.#reads.run({}, () => super.snapshot(...range));
  }

  override days(...range: Parameters<Catalog['days']>): ReturnType<Catalog['days']> {
    const read = this.#reads.getStore();
    return read === undefined ? super.days(...range) : (read.days ??= super.days(...range));
  }
}

export const readsWithoutTheVersion: Bug = {
  name: 'reads without the version of the day',
  maxSeeds: 600,
  knownSeed: 51,
  breaks: ['acknowledged-is-found', 'reads-one-version'],
  readCatalog: parts => new CarelessCatalog(parts),
};
