/**
 * Days with outstanding work, so that scheduled jobs find their work without a listing. There is one item per tenant
 * and day, written with the commit that creates the work.
 *
 * A process that has written the item does not write it again for WORK_KNOWN_MS. An item may therefore be removed only when
 * it is older than that by a margin. Then no process relies on it any more, and the next push writes it again.
 */
import type { Clock } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import { COMMON_SHARDS, dayOfText, tenantKey, workKey, workPartition } from './keys.ts';

/** Time for which a process relies on its knowledge of a day. */
export const WORK_KNOWN_MS = 600_000;
/** Minimum age of an item at its removal. Covers clock differences of minutes, and slow commits. */
const REMOVED_AFTER_MS = 3 * WORK_KNOWN_MS;
const PAGE_ITEMS = 500;

export interface Outstanding {
  readonly tenant: string;
  readonly day: number;
  /** Unix ms of the newest commit that announced itself. */
  readonly writtenMs: number;
}

/** Writes for a commit. Every announcement puts the tenant's item, so that it needs no read. */
export function workWrite(tenant: string, day: number, nowMs: number): Write {
  const item = { ...workKey(tenant, day), version: Math.trunc(nowMs), body: new Uint8Array(0) };
  return { kind: 'put', item };
}

export function tenantWrite(tenant: string): Write {
  return { kind: 'put', item: { ...tenantKey(tenant), version: 0, body: new Uint8Array(0) } };
}

/** True if no process can still rely on the item. */
export function mayBeRemoved({ writtenMs }: Outstanding, nowMs: number): boolean {
  return nowMs - writtenMs > REMOVED_AFTER_MS;
}

export class OutstandingWork {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { table: Table; clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Lists all items in pages, because a store may have many tenants. Starts at the position of `first` and wraps
   * around.
   */
  async *list(first?: Pick<Outstanding, 'tenant' | 'day'>): AsyncGenerator<Outstanding> {
    const partitions = Array.from({ length: COMMON_SHARDS }, (_, shard) => workPartition(shard));
    if (first === undefined) {
      for (const pk of partitions) yield* this.#read(pk, {});
      return;
    }
    const { pk, sk } = workKey(first.tenant, first.day);
    const start = partitions.indexOf(pk);
    yield* this.#read(pk, { from: sk });
    for (const other of [...partitions.slice(start + 1), ...partitions.slice(0, start)]) {
      yield* this.#read(other, {});
    }
    yield* this.#read(pk, { to: sk });
  }

  /** The days of one tenant, ascending. */
  daysOfTenant(tenant: string): AsyncGenerator<Outstanding> {
    // Uses '0' as the end, because it follows '/': the range is everything that begins with the tenant and a slash.
    return this.#read(workKey(tenant, 0).pk, { from: `${tenant}/`, to: `${tenant}0` });
  }

  async *#read(pk: string, range: { from?: string; to?: string }): AsyncGenerator<Outstanding> {
    let after: string | undefined;
    do {
      const page = await this.#table.query(pk, { ...range, after, limit: PAGE_ITEMS });
      for (const { sk, version } of page.items) {
        const slash = sk.lastIndexOf('/');
        yield { tenant: sk.slice(0, slash), day: dayOfText(sk.slice(slash + 1)), writtenMs: version };
      }
      after = page.next;
    } while (after !== undefined);
  }

  /** Lists a day before something other than a push creates work. The day was announced before. */
  async announce({ tenant, day }: Pick<Outstanding, 'tenant' | 'day'>): Promise<void> {
    const write = workWrite(tenant, day, this.#clock.nowMs());
    await this.#table.transact([write]);
  }

  /** Removes a day from the list, unless a process still relies on it or a commit came in between. */
  async remove(work: Outstanding): Promise<boolean> {
    if (!mayBeRemoved(work, this.#clock.nowMs())) return false;
    try {
      const { tenant, day, writtenMs: version } = work;
      await this.#table.delete(workKey(tenant, day), { kind: 'version', version });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }
}
