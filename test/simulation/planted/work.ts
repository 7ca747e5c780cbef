/** Bugs of compaction, index sync and collection as a whole, in the calls of their catalog. */

import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import type { Item, Table, Write } from '../../../shared/base/ports/table.ts';
import { Catalog, type CatalogParts } from '../../../shared/storage/catalog/catalog.ts';
import { newChunkId } from '../../../shared/storage/catalog/chunk-id.ts';
import { readFooter, storeChunk } from '../../../shared/storage/catalog/chunk-object.ts';
import { type Day, indexKey } from '../../../shared/storage/catalog/day-item.ts';
import { Garbage } from '../../../shared/storage/catalog/garbage.ts';
import { workKey } from '../../../shared/storage/catalog/keys.ts';
import { type Outstanding, OutstandingWork } from '../../../shared/storage/catalog/outstanding.ts';
import type { Swap } from '../../../shared/storage/catalog/swap.ts';
import { writeChunk } from '../../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { headBytesOf } from '../../../shared/storage/index/day-index.ts';
import { encodeIndex } from '../../../shared/storage/index/write.ts';
import { rowsOf } from '../../support/rows.ts';
import { entriesOf } from '../actors/merge-day.ts';
import type { Bug } from './bug.ts';

/** Swaps other chunks than requested. */
class ChangingCatalog extends Catalog {
  readonly #change: (swap: Swap) => Promise<Swap>;

  constructor(parts: CatalogParts, change: (swap: Swap) => Promise<Swap>) {
    super(parts);
    this.#change = change;
  }

  override async swap(swap: Swap): Promise<Day> {
    return super.swap(await this.#change(swap));
  }
}

async function withoutOneRow(swap: Swap, { clock, ids }: CatalogParts, store: ObjectStore): Promise<Swap> {
  const [first, ...others] = swap.added;
  const entries = first === undefined ? [] : await entriesOf(store, [first]);
  if (entries.length < 2) return swap;
  const { tenant, day, level } = first;
  const id = newChunkId(clock, ids);
  const head = { id, tenant, day, level, createdMs: clock.nowMs(), inputs: [] };
  const chunk = await writeChunk(head, rowsOf(entries.slice(1)), QUICK_COMPRESSION);
  return { ...swap, added: [await storeChunk(store, chunk, 4096), ...others] };
}

export const dropsARow: Bug = {
  name: 'drops a row in compaction',
  maxSeeds: 20,
  breaks: ['swap-keeps-entries', 'acknowledged-is-found'],
  workCatalog: (parts, store) => new ChangingCatalog(parts, swap => withoutOneRow(swap, parts, store)),
};

/** An index that has the footer of one chunk for another, too. */
async function withoutReading(
  swap: Swap,
  { clock, ids, table }: CatalogParts,
  store: ObjectStore,
): Promise<Swap> {
  const { tenant, day, indexes } = swap;
  if (indexes === undefined) return swap;
  const { records } = (await new Catalog({ table, clock, ids }).day(tenant, day.day)) ?? { records: [] };
  if (records.length < 2) return swap;
  const footer = await readFooter(store, records[0]);
  const chunks = records.map(({ id }) => ({ id, footer: { ...footer, id } }));
  const object = await encodeIndex({ tenant, day: day.day, createdMs: clock.nowMs(), chunks });
  const id = newChunkId(clock, ids);
  await store.putIfAbsent(indexKey(tenant, day.day, id), object);
  const index = { fromMinute: 0, id, storedBytes: object.length, headBytes: headBytesOf(object) };
  return { ...swap, indexes: [index] };
}

export const coversWhatItDidNotRead: Bug = {
  name: 'covers chunks that it did not read',
  maxSeeds: 20,
  breaks: ['index-agrees-with-chunks', 'acknowledged-is-found'],
  workCatalog: (parts, store) => new ChangingCatalog(parts, swap => withoutReading(swap, parts, store)),
};

/** Knows the lists of garbage as they were before it read the records of a day. */
class EarlyGarbage extends Garbage {
  #before: Set<string> | undefined;

  async look(): Promise<void> {
    this.#before = await super.all();
  }

  override async all(): Promise<Set<string>> {
    return this.#before ?? super.all();
  }
}

class GarbageFirstCatalog extends Catalog {
  override readonly garbage: EarlyGarbage;

  constructor(parts: CatalogParts) {
    super(parts);
    this.garbage = new EarlyGarbage(parts.table);
  }

  override async day(tenant: string, day: number): ReturnType<Catalog['day']> {
    await this.garbage.look();
    return super.day(tenant, day);
  }
}

export const looksAtGarbageFirst: Bug = {
  name: 'looks at garbage before records',
  needsRest: true,
  maxSeeds: 800,
  knownSeed: 43,
  breaks: ['readers-miss-no-object'],
  workCatalog: parts => new GarbageFirstCatalog(parts),
};

/** Takes a day off the list although processes still trust that it is there. */
class HastyWork extends OutstandingWork {
  readonly #ofDays: Table;

  constructor(parts: CatalogParts) {
    super(parts);
    this.#ofDays = parts.table;
  }

  override async remove({ tenant, day }: Outstanding): Promise<boolean> {
    await this.#ofDays.delete(workKey(tenant, day));
    return true;
  }
}

class HastyCatalog extends Catalog {
  override readonly outstanding: OutstandingWork;

  constructor(parts: CatalogParts) {
    super(parts);
    this.outstanding = new HastyWork(parts);
  }
}

export const forgetsWorkTooEarly: Bug = {
  name: 'takes a day off the list too early',
  maxSeeds: 400,
  knownSeed: 25,
  breaks: ['work-is-announced'],
  workCatalog: parts => new HastyCatalog(parts),
};

const isLease = ({ pk }: { readonly pk: string }) => pk.startsWith('l/');
const countedAnew = (item: Item): Item => (isLease(item) ? { ...item, version: 1 } : item);

function countedAnewIn(write: Write): Write {
  const { condition } = write;
  const key = write.kind === 'put' ? write.item : write.key;
  const of =
    isLease(key) && condition?.kind === 'version' ? ({ kind: 'version', version: 1 } as const) : condition;
  if (write.kind === 'put') return { kind: 'put', item: countedAnew(write.item), condition: of };
  if (write.kind === 'delete') return { ...write, condition: of };
  return { ...write, condition: of ?? write.condition };
}

/** A lease that has ended is gone, and with it what the next token could be counted from. */
export const countsTokensAnew: Bug = {
  name: 'counts the tokens of a lease from 1 again',
  maxSeeds: 800,
  knownSeed: 194,
  breaks: ['swap-is-fenced'],
  table: table => ({
    ...table,
    put: (item, condition) => {
      const write = countedAnewIn({ kind: 'put', item, condition });
      return write.kind === 'put' ? table.put(write.item, write.condition) : Promise.reject(new TypeError());
    },
    delete: (key, condition) =>
      table.delete(key, countedAnewIn({ kind: 'delete', key, condition }).condition),
    transact: writes => table.transact(writes.map(countedAnewIn)),
  }),
};
