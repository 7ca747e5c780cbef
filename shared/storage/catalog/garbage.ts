/**
 * Objects that no record names any more, and the time after which they may be deleted. The list is written in the
 * transaction that removes them from the catalog. Until that time, queries that began before the removal still read
 * them.
 */
import type { Table, Write } from '../../base/ports/table.ts';
import { COMMON_SHARDS, garbageKey, garbagePartition, timeKeyText } from './keys.ts';

/** Object keys of one removal. A list fits one item: 97 inputs of a swap with tenants of 150 bytes need 22 KiB. */
export interface GarbageList {
  readonly pk: string;
  readonly sk: string;
  readonly keys: readonly string[];
}

/** Creates the write that a swap includes. `id` is unique to the swap. */
export function garbageWrite(id: string, keys: readonly string[], dueMs: number): Write {
  const body = Buffer.from(JSON.stringify(keys));
  return { kind: 'put', item: { ...garbageKey(Math.trunc(dueMs), id), version: 0, body } };
}

export class Garbage {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Lists that are due, oldest first in each partition, at most `limit` per partition. */
  async due(nowMs: number, limit: number): Promise<GarbageList[]> {
    return this.#read(limit, timeKeyText(Math.trunc(nowMs)));
  }

  /** Keys of all objects that wait to be deleted. */
  async all(): Promise<Set<string>> {
    const lists = await this.#read(Infinity, undefined);
    return new Set(lists.flatMap(({ keys }) => keys));
  }

  /** Removes a list whose objects are deleted. */
  async remove({ pk, sk }: GarbageList): Promise<void> {
    await this.#table.delete({ pk, sk });
  }

  async #read(limit: number, to: string | undefined): Promise<GarbageList[]> {
    const lists: GarbageList[] = [];
    for (let shard = 0; shard < COMMON_SHARDS; shard++) {
      let after: string | undefined;
      let left = limit;
      do {
        const page = await this.#table.query(garbagePartition(shard), {
          to,
          after,
          limit: Math.min(left, 100),
        });
        for (const { pk, sk, body } of page.items) {
          lists.push({ pk, sk, keys: JSON.parse(Buffer.from(body).toString()) as string[] });
        }
        left -= page.items.length;
        after = page.next;
      } while (after !== undefined && left > 0);
    }
    return lists;
  }
}
