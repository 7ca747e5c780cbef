/**
 * Objects that no record names any more, and when they may be deleted: written in the transaction that took them out of
 * the catalog. Until then queries that began before it still read them.
 */
import type { Table, Write } from '../../base/ports/table.ts';
import { COMMON_SHARDS, garbageKey, garbagePartition, timeText } from './keys.ts';

/** A list of object keys fits one item: 97 inputs of a swap with tenants of 150 bytes take 22 KiB. */
export interface GarbageList {
  readonly pk: string;
  readonly sk: string;
  readonly keys: readonly string[];
}

/** Part of a swap. `id` is unique to it. */
export function garbageWrite(id: string, keys: readonly string[], dueMs: number): Write {
  const body = Buffer.from(JSON.stringify(keys));
  return { kind: 'put', item: { ...garbageKey(Math.trunc(dueMs), id), version: 0, body } };
}

export class Garbage {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Lists whose time has come, oldest first in each partition, at most `limit` of each. */
  async due(nowMs: number, limit: number): Promise<GarbageList[]> {
    return this.#read(limit, timeText(Math.trunc(nowMs)));
  }

  /** Every object that waits to be deleted. */
  async all(): Promise<Set<string>> {
    const lists = await this.#read(Infinity, undefined);
    return new Set(lists.flatMap(({ keys }) => keys));
  }

  /** Forgets a list whose objects are deleted. */
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
