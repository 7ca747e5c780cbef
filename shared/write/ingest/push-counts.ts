/**
 * Counts how much memory the pushes of each tenant hold and which of them wait, in this thread and in the
 * threads that share the budget. A thread changes only its own counts, so the counts of a lost thread can be
 * discarded.
 */
import { hashOfText } from '../../base/model/text-hash.ts';

/** Pushes of one tenant in one thread. */
export interface TenantPushes {
  /** 32-bit hash of the name, because threads share only numbers. */
  readonly key: number;
  readonly bytes: number;
  /** Number of pushes that hold memory. */
  readonly holders: number;
  /** Number of pushes that wait for more. */
  readonly waiting: number;
  /** Number of pushes that do both. */
  readonly waitingHolders: number;
}

/** Pushes of the other threads. */
export interface OtherPushes {
  /** Publishes the counts of a tenant in this thread. Other threads see them when this returns. */
  publish(own: TenantPushes): void;
  /** Returns the counts of the threads before this one and after it. */
  rows(): { readonly before: readonly TenantPushes[]; readonly after: readonly TenantPushes[] };
}

const ALONE: ReturnType<OtherPushes['rows']> = { before: [], after: [] };

export class PushCounts {
  readonly #own = new Map<number, TenantPushes>();
  readonly #others: OtherPushes | undefined;
  #ownBytes = 0;

  constructor(others?: OtherPushes) {
    this.#others = others;
  }

  /** Whether other threads share the budget. They release bytes at any time, without a notification. */
  get isShared(): boolean {
    return this.#others !== undefined;
  }

  /** Bytes of all pushes of this thread. */
  get ownBytes(): number {
    return this.#ownBytes;
  }

  /** Bytes of all pushes. */
  get bytes(): number {
    const { before, after } = this.#rows();
    return this.#ownBytes + sumOf(before) + sumOf(after);
  }

  bytesOf(tenant: string): number {
    return bytesOf(this.#all(), tenantHash(tenant));
  }

  /** Adds to the counts of a tenant in this thread. */
  add(tenant: string, change: Partial<TenantPushes>): void {
    const key = tenantHash(tenant);
    const { bytes = 0, holders = 0, waiting = 0, waitingHolders = 0 } = this.#own.get(key) ?? {};
    const own: TenantPushes = {
      key,
      bytes: bytes + (change.bytes ?? 0),
      holders: holders + (change.holders ?? 0),
      waiting: waiting + (change.waiting ?? 0),
      waitingHolders: waitingHolders + (change.waitingHolders ?? 0),
    };
    if (isZero(own)) this.#own.delete(key);
    else this.#own.set(key, own);
    this.#ownBytes += change.bytes ?? 0;
    this.#others?.publish(own);
  }

  /** Whether another tenant waits that holds less than `bytes`. */
  isWantedByLess(tenant: string, bytes: number): boolean {
    const all = this.#all();
    const own = tenantHash(tenant);
    return all.some(({ key, waiting }) => waiting > 0 && key !== own && bytesOf(all, key) < bytes);
  }

  /**
   * Key of the tenant whose push this thread must refuse to end a deadlock, or undefined. If all pushes that
   * hold memory wait for more, none would ever release any. One of them is then refused: of the tenant that
   * holds most, in the first thread in which one waits.
   */
  get stuck(): number | undefined {
    const { before } = this.#rows();
    const all = this.#all();
    if (all.some(({ holders, waitingHolders }) => holders > waitingHolders)) return undefined;
    let heaviest = { key: 0, bytes: -1 };
    for (const { key, waitingHolders } of all) {
      const bytes = waitingHolders > 0 ? bytesOf(all, key) : -1;
      if (bytes > heaviest.bytes || (bytes === heaviest.bytes && key > heaviest.key))
        heaviest = { key, bytes };
    }
    const isOf = ({ key, waitingHolders }: TenantPushes) => key === heaviest.key && waitingHolders > 0;
    return !before.some(isOf) && [...this.#own.values()].some(isOf) ? heaviest.key : undefined;
  }

  #rows(): ReturnType<OtherPushes['rows']> {
    return this.#others?.rows() ?? ALONE;
  }

  #all(): readonly TenantPushes[] {
    const { before, after } = this.#rows();
    return [...before, ...this.#own.values(), ...after];
  }
}

export function tenantHash(tenant: string): number {
  return hashOfText(tenant) | 0;
}

/** Whether no push is counted. */
export function isZero({ bytes, holders, waiting }: TenantPushes): boolean {
  return bytes === 0 && holders === 0 && waiting === 0;
}

function bytesOf(rows: readonly TenantPushes[], wanted: number): number {
  return rows.reduce((sum, { key, bytes }) => (key === wanted ? sum + bytes : sum), 0);
}

function sumOf(rows: readonly TenantPushes[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}
