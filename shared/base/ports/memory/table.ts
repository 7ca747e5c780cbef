/**
 * Table in memory: the model to which SQLite and DynamoDB are compared, and the table of simulations.
 *
 * Pitfall: `limit` and the page size count expired items too, as in DynamoDB. A page may therefore be empty
 * and have a next page, and the last page may announce another one. A caller that handles this model handles
 * DynamoDB.
 */
import { binaryFirst } from '../../model/binary-search.ts';
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
  keyOfWrite,
  MAX_QUERY_PAGE_BYTES,
  queryLimit,
  sweepLimit,
} from '../table-rules.ts';

export interface MemoryTable extends Table {
  /** Number of stored items, including expired ones. */
  readonly count: number;
  /** Deletes up to `limit` expired items; resolves to the number deleted. */
  sweep(limit?: number): Promise<number>;
}

/** Items of one partition, ascending by the UTF-8 bytes of their sort keys. */
type Partition = Item[];

export function memoryTable({ clock }: { readonly clock: Clock }): MemoryTable {
  const partitions = new Map<string, Partition>();

  const find = ({ pk, sk }: ItemKey): Item | undefined => {
    const partition = partitions.get(pk);
    if (partition === undefined) return undefined;
    const item = partition[firstAtOrAbove(partition, sk)];
    return item?.sk === sk && !isExpired(item.expiresAt, clock.nowMs()) ? item : undefined;
  };

  const apply = (write: Write): void => {
    if (write.kind === 'put') store(partitions, write.item);
    if (write.kind === 'delete') remove(partitions, write.key);
  };

  const transact = (writes: readonly Write[]): void => {
    writes.forEach((write, index) => {
      const key = keyOfWrite(write);
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

/** Returns the index of the first item whose sort key is `sk` or above. */
function firstAtOrAbove(partition: Partition, sk: string): number {
  return binaryFirst(partition.length, i => compareUtf8(partition[i].sk, sk) >= 0);
}

/** Returns the index of the first item whose sort key is above `sk`. */
function firstAbove(partition: Partition, sk: string): number {
  const index = firstAtOrAbove(partition, sk);
  return partition[index]?.sk === sk ? index + 1 : index;
}

/**
 * Returns the index range of a query, `first` inclusive, `end` exclusive, without the items up to `after`.
 */
function rangeOf(
  partition: Partition,
  { from, to, reverse, after }: QueryOptions,
): { first: number; end: number } {
  let first = from === undefined ? 0 : firstAtOrAbove(partition, from);
  let end = to === undefined ? partition.length : firstAtOrAbove(partition, to);
  if (after !== undefined && reverse) end = Math.min(end, firstAtOrAbove(partition, after));
  if (after !== undefined && !reverse) first = Math.max(first, firstAbove(partition, after));
  return { first, end };
}

function store(partitions: Map<string, Partition>, item: Item): void {
  let partition = partitions.get(item.pk);
  if (partition === undefined) partitions.set(item.pk, (partition = []));
  const index = firstAtOrAbove(partition, item.sk);
  partition.splice(index, partition[index]?.sk === item.sk ? 1 : 0, copyOf(item));
}

function remove(partitions: Map<string, Partition>, { pk, sk }: ItemKey): void {
  const partition = partitions.get(pk);
  if (partition === undefined) return;
  const index = firstAtOrAbove(partition, sk);
  if (partition[index]?.sk === sk) partition.splice(index, 1);
  if (partition.length === 0) partitions.delete(pk);
}

/** Copies only the fields of the port, so that no other field survives by accident. */
function copyOf({ pk, sk, version, body, expiresAt }: Item): Item {
  const copy = new Uint8Array(body);
  return expiresAt === undefined
    ? { pk, sk, version, body: copy }
    : { pk, sk, version, body: copy, expiresAt };
}
