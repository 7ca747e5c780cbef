/**
 * A table in memory: the model that SQLite and DynamoDB are compared with, and the table of simulations.
 *
 * A reader would get wrong: `limit` and the page size count stored items, expired ones included, as DynamoDB
 * counts them. So a page may be empty and have a next one, and the last page may say that there is another:
 * a caller that survives this model survives DynamoDB.
 */
import { firstPlace } from '../../model/binary-search.ts';
import { compareUtf8 } from '../../model/bytes.ts';
import type { Clock } from '../clock.ts';
import {
  ConditionFailedError,
  type Item,
  type ItemKey,
  type QueryOptions,
  type Table,
  type Write,
} from '../table.ts';
import {
  checkItem,
  checkItemKey,
  checkQuery,
  checkTransaction,
  conditionHolds,
  isExpired,
  itemBytes,
  keyOf,
  MAX_QUERY_PAGE_BYTES,
  queryLimit,
  sweepLimit,
} from '../table-rules.ts';

export interface MemoryTable extends Table {
  /** Items stored, expired ones included. */
  readonly count: number;
  /** Deletes at most `limit` expired items; resolves to how many it deleted. */
  sweep(limit?: number): Promise<number>;
}

/** The items of one partition, ascending by the UTF-8 bytes of their sort keys. */
type Partition = Item[];

export function memoryTable({ clock }: { readonly clock: Clock }): MemoryTable {
  const partitions = new Map<string, Partition>();

  const find = ({ pk, sk }: ItemKey): Item | undefined => {
    const partition = partitions.get(pk);
    if (partition === undefined) return undefined;
    const item = partition[lowerBound(partition, sk)];
    return item?.sk === sk && !isExpired(item.expiresAt, clock.nowMs()) ? item : undefined;
  };

  const apply = (write: Write): void => {
    if (write.kind === 'put') store(partitions, write.item);
    if (write.kind === 'delete') remove(partitions, write.key);
  };

  const transact = (writes: readonly Write[]): void => {
    writes.forEach((write, index) => {
      const key = keyOf(write);
      if (!conditionHolds(write.condition, find(key)?.version)) throw new ConditionFailedError(key, index);
    });
    writes.forEach(apply);
  };

  return {
    get count() {
      let items = 0;
      for (const partition of partitions.values()) items += partition.length;
      return items;
    },

    async get(key) {
      checkItemKey(key);
      const item = find(key);
      return item && copyOf(item);
    },

    async query(pk, options = {}) {
      checkQuery(pk, options);
      const limit = queryLimit(options.limit);
      const partition = partitions.get(pk) ?? [];
      const { first, end } = rangeOf(partition, options);
      const step = options.reverse ? -1 : 1;
      const items: Item[] = [];
      let bytes = 0;
      let read = 0;
      for (let i = options.reverse ? end - 1 : first; i >= first && i < end; i += step) {
        const item = partition[i];
        if (!isExpired(item.expiresAt, clock.nowMs())) items.push(copyOf(item));
        bytes += itemBytes(item);
        if (++read === limit || bytes >= MAX_QUERY_PAGE_BYTES) return { items, next: item.sk };
      }
      return { items };
    },

    async put(item, condition) {
      checkItem(item);
      transact([{ kind: 'put', item, condition }]);
    },

    async delete(key, condition) {
      checkItemKey(key);
      transact([{ kind: 'delete', key, condition }]);
    },

    async transact(writes) {
      checkTransaction(writes);
      transact(writes);
    },

    async sweep(limit) {
      const most = sweepLimit(limit);
      const expired: Item[] = [];
      for (const partition of partitions.values()) {
        for (const item of partition) if (isExpired(item.expiresAt, clock.nowMs())) expired.push(item);
      }
      const swept = expired.sort((a, b) => a.expiresAt! - b.expiresAt!).slice(0, most);
      for (const item of swept) remove(partitions, item);
      return swept.length;
    },
  };
}

/** Place of the first item whose sort key is `sk` or above. */
function lowerBound(partition: Partition, sk: string): number {
  return firstPlace(0, partition.length, place => compareUtf8(partition[place].sk, sk) >= 0);
}

/** Place of the first item whose sort key is above `sk`. */
function upperBound(partition: Partition, sk: string): number {
  const place = lowerBound(partition, sk);
  return partition[place]?.sk === sk ? place + 1 : place;
}

/** The places of a query: `first` inclusive, `end` exclusive, what `after` has passed left out. */
function rangeOf(
  partition: Partition,
  { from, to, reverse, after }: QueryOptions,
): { first: number; end: number } {
  let first = from === undefined ? 0 : lowerBound(partition, from);
  let end = to === undefined ? partition.length : lowerBound(partition, to);
  if (after !== undefined && reverse) end = Math.min(end, lowerBound(partition, after));
  if (after !== undefined && !reverse) first = Math.max(first, upperBound(partition, after));
  return { first, end };
}

function store(partitions: Map<string, Partition>, item: Item): void {
  let partition = partitions.get(item.pk);
  if (partition === undefined) partitions.set(item.pk, (partition = []));
  const place = lowerBound(partition, item.sk);
  partition.splice(place, partition[place]?.sk === item.sk ? 1 : 0, copyOf(item));
}

function remove(partitions: Map<string, Partition>, { pk, sk }: ItemKey): void {
  const partition = partitions.get(pk);
  if (partition === undefined) return;
  const place = lowerBound(partition, sk);
  if (partition[place]?.sk === sk) partition.splice(place, 1);
  if (partition.length === 0) partitions.delete(pk);
}

/** Only the fields of the port, so that no other one survives by accident. */
function copyOf({ pk, sk, version, body, expiresAt }: Item): Item {
  const copy = new Uint8Array(body);
  return expiresAt === undefined
    ? { pk, sk, version, body: copy }
    : { pk, sk, version, body: copy, expiresAt };
}
