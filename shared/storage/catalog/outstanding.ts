/**
 * Days with work outstanding, so that scheduled work finds what to do without listing anything: an item per tenant and
 * day, written with the commit that creates the work.
 *
 * A process that has written the item does not write it again for KNOWN_MS. So it may be taken away only when it is
 * older than that by a margin: then no process trusts in it any more, and the next push writes it anew.
 */
import type { Clock } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import { COMMON_SHARDS, dayOfText, tenantKey, workKey, workPartition } from './keys.ts';

/** How long a process trusts in what it knows of a day. */
export const KNOWN_MS = 600_000;
/** Covers clocks that differ by minutes, and commits that take their time. */
const REMOVED_AFTER_MS = 3 * KNOWN_MS;
const PAGE_ITEMS = 500;

export interface Outstanding {
  readonly tenant: string;
  readonly day: number;
  /** Unix ms of the newest commit that announced itself. */
  readonly writtenMs: number;
}

/** Parts of a commit; the tenant's is put by every announcement, so that it needs no reading. */
export function workWrite(tenant: string, day: number, nowMs: number): Write {
  const item = { ...workKey(tenant, day), version: Math.trunc(nowMs), body: new Uint8Array(0) };
  return { kind: 'put', item };
}

export function tenantWrite(tenant: string): Write {
  return { kind: 'put', item: { ...tenantKey(tenant), version: 0, body: new Uint8Array(0) } };
}

/** True where no process can still trust in the item. */
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

  /** All of it, in pages: a store may have many tenants. Begins at `first`, or where that would be, and comes round. */
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
  ofTenant(tenant: string): AsyncGenerator<Outstanding> {
    // '0' comes behind '/': everything that begins with the tenant and a slash.
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

  /** Puts a day on the list where something other than a push makes work, before it does: the day was announced before. */
  async announce({ tenant, day }: Pick<Outstanding, 'tenant' | 'day'>): Promise<void> {
    const write = workWrite(tenant, day, this.#clock.nowMs());
    await this.#table.transact([write]);
  }

  /** Takes a day off the list unless somebody still trusts in it or a commit came in between. */
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
