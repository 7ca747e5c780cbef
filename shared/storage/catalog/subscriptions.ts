/**
 * Stores live tails: their queries, and how far each owner has followed a tenant.
 *
 *     tc/<tenant>               s/<owner>/<connection>   a tail; expires unless it is renewed
 *     tc/<tenant>               c/<owner>                the cursor: commits that its tails have been served
 *     tx/<owner>/<connection>   tenant                   the tenant of a connection
 *     tt/<owner>                <tenant>                 a tenant with tails of the owner; expires
 *
 * An owner holds connections and can post to them. All functions of an account are one owner, and each process with a
 * gateway is one.
 *
 * Pitfall: the tails of a process that died stay until they expire. If a number of tails is too high, count them again.
 */
import type { Clock } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Item, type ItemKey, type Table } from '../../base/ports/table.ts';

/** Time after which a tail that is not renewed counts as dead: three ticks of the schedule that renews it. */
export const SUBSCRIPTION_MS = 180_000;
/** Time after which a cursor expires: as long as the log entries that it points to. */
const CURSOR_MS = 900_000;

/** Format of the frames that a client understands: the current one, or that of `/api/prom`. */
export type FrameForm = 'current' | 'legacy';

export interface Subscription {
  readonly tenant: string;
  readonly owner: string;
  readonly connectionId: string;
  /** LogQL, a log query. */
  readonly query: string;
  readonly form: FrameForm;
  /** Values of the header X-Loki-Response-Encoding-Flags. */
  readonly flags: readonly string[];
  /** Maximum number of entries of the lookback. */
  readonly limit: number;
  /** Start of the lookback, Unix ns as text. */
  readonly startNs: string;
  /** Minimum age of an entry before it is sent, ms. */
  readonly delayMs: number;
  /** Unix ms. */
  readonly createdMs: number;
  /** Reason why the tail cannot be served. It is sent when the connection can be posted to. */
  readonly refusal?: string;
  /** Set after the lookback: IDs of chunks that it read, or may have read. They are not served again. */
  readonly covered?: readonly string[];
}

/** Commits that an owner has served to all of a tenant's tails. */
export interface TailCursor {
  /** Unix ms: commits whose stamps are earlier by LOG_MARGIN_MS have been served. */
  readonly positionMs: number;
  /** IDs of chunks near the position that were served, with the time of serving (Unix ms). */
  readonly served: readonly (readonly [id: string, servedMs: number])[];
  readonly savedMs: number;
}

export class Subscriptions {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { readonly table: Table; readonly clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  async add(subscription: Subscription): Promise<void> {
    const { tenant, owner, connectionId } = subscription;
    const expiresAt = this.#expiresAt(SUBSCRIPTION_MS);
    const empty = { version: 0, body: new Uint8Array(0), expiresAt };
    await this.#table.transact([
      { kind: 'put', item: this.#item(subscription) },
      { kind: 'put', item: { ...empty, ...connectionKey(owner, connectionId), body: Buffer.from(tenant) } },
      { kind: 'put', item: { ...empty, ...tenantKey(owner, tenant) } },
    ]);
  }

  /** Writes a subscription again to extend its life. False if it was removed: it must not come back. */
  async renew(subscription: Subscription): Promise<boolean> {
    const { tenant, owner, connectionId } = subscription;
    const expiresAt = this.#expiresAt(SUBSCRIPTION_MS);
    const empty = { version: 0, body: new Uint8Array(0), expiresAt };
    try {
      await this.#table.transact([
        { kind: 'put', item: this.#item(subscription), condition: { kind: 'present' } },
        { kind: 'put', item: { ...empty, ...connectionKey(owner, connectionId), body: Buffer.from(tenant) } },
        { kind: 'put', item: { ...empty, ...tenantKey(owner, tenant) } },
      ]);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }

  async remove(subscription: Pick<Subscription, 'tenant' | 'owner' | 'connectionId'>): Promise<void> {
    await this.#table.delete(keyOf(subscription));
    await this.#table.delete(connectionKey(subscription.owner, subscription.connectionId));
  }

  /** Subscriptions of all owners. */
  async list(tenant: string): Promise<Subscription[]> {
    const subscriptions: Subscription[] = [];
    for await (const { body } of this.#read(partition(tenant), { from: 's/', to: 's0' })) {
      subscriptions.push(JSON.parse(Buffer.from(body).toString()) as Subscription);
    }
    return subscriptions;
  }

  /** Tenant of a connection; undefined if it has no tail. */
  async tenantOf(owner: string, connectionId: string): Promise<string | undefined> {
    const item = await this.#table.get(connectionKey(owner, connectionId));
    return item && Buffer.from(item.body).toString();
  }

  /** Tenants that have, or recently had, tails of an owner. */
  async tenantsOf(owner: string): Promise<string[]> {
    const tenants: string[] = [];
    for await (const { sk } of this.#read(`tt/${owner}`, {})) tenants.push(sk);
    return tenants;
  }

  async readCursor(tenant: string, owner: string): Promise<TailCursor | undefined> {
    const item = await this.#table.get(cursorKey(tenant, owner));
    return item && (JSON.parse(Buffer.from(item.body).toString()) as TailCursor);
  }

  async saveCursor(tenant: string, owner: string, cursor: TailCursor): Promise<void> {
    const body = Buffer.from(JSON.stringify(cursor));
    const expiresAt = this.#expiresAt(CURSOR_MS);
    await this.#table.put({ ...cursorKey(tenant, owner), version: 0, body, expiresAt });
  }

  #item(subscription: Subscription): Item {
    const body = Buffer.from(JSON.stringify(subscription));
    return { ...keyOf(subscription), version: 0, body, expiresAt: this.#expiresAt(SUBSCRIPTION_MS) };
  }

  #expiresAt(validMs: number): number {
    return Math.ceil((this.#clock.nowMs() + validMs) / 1000);
  }

  async *#read(pk: string, range: { from?: string; to?: string }): AsyncGenerator<Item> {
    let after: string | undefined;
    do {
      const page = await this.#table.query(pk, { ...range, after });
      yield* page.items;
      after = page.next;
    } while (after !== undefined);
  }
}

function partition(tenant: string): string {
  return `tc/${tenant}`;
}

function keyOf({
  tenant,
  owner,
  connectionId,
}: Pick<Subscription, 'tenant' | 'owner' | 'connectionId'>): ItemKey {
  return { pk: partition(tenant), sk: `s/${owner}/${connectionId}` };
}

function cursorKey(tenant: string, owner: string): ItemKey {
  return { pk: partition(tenant), sk: `c/${owner}` };
}

function connectionKey(owner: string, connectionId: string): ItemKey {
  return { pk: `tx/${owner}/${connectionId}`, sk: 'tenant' };
}

function tenantKey(owner: string, tenant: string): ItemKey {
  return { pk: `tt/${owner}`, sk: tenant };
}
