/**
 * Leases: at most one worker at a time, for as long as it renews; and fencing: what a holder publishes is conditioned on
 * its token, so a worker that stalled past the end of its lease publishes nothing, however sure it is of itself.
 *
 *     A takes (token 1) ----- stalls ------------------ publishes: refused, the token is 2
 *                        lease ends | B takes (token 2) ----- publishes
 *
 * An expired lease is no longer seen, so its token cannot be counted on: tokens are made of the time and a random part.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import { leaseKey } from './keys.ts';

/** 12 random bits under the Unix ms: two holders of one lease never share a token. */
const RANDOM_TOKENS = 4096;

export interface Lease {
  readonly name: string;
  /** Fencing token. */
  readonly token: number;
}

/** Somebody else may work now: nothing more is to be published. */
export class LeaseLostError extends Error {
  constructor(name: string) {
    super(`the lease ${name} is lost`);
    this.name = 'LeaseLostError';
  }
}

/** Whatever takes chunks of a day out of the catalog: compaction, deletion, retention. On one machine index sync, too. */
export function dayLease(tenant: string, day: number): string {
  return `day/${tenant}/${day}`;
}

/** Index sync over a distant table: it may take longer than a large tenant's merges can wait. */
export function indexLease(tenant: string, day: number): string {
  return `index/${tenant}/${day}`;
}

/** Slightly longer than the lease of a merge whose process died, which is 60 s. */
const PATIENT_TRIES = 75;
const PATIENT_PAUSE_MS = 1000;

export class Leases {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ table, clock, ids }: { table: Table; clock: Clock; ids: Ids }) {
    this.#table = table;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** The lease, or undefined where somebody else holds it. An error may leave it held until it ends. */
  async take(name: string, durationMs: number): Promise<Lease | undefined> {
    const random = Number.parseInt(this.#ids.randomHex(2), 16) % RANDOM_TOKENS;
    const lease = { name, token: Math.trunc(this.#clock.nowMs()) * RANDOM_TOKENS + random };
    try {
      await this.#table.put(this.#item(lease, durationMs), { kind: 'absent' });
      return lease;
    } catch (error) {
      if (error instanceof ConditionFailedError) return undefined;
      throw error;
    }
  }

  /** Like `take`, and waits for a lease of a process that died to end. Undefined if another process still holds it then. */
  async takePatiently(name: string, durationMs: number): Promise<Lease | undefined> {
    for (let tries = 0; tries < PATIENT_TRIES; tries++) {
      if (tries > 0) await this.#clock.sleep(PATIENT_PAUSE_MS);
      const lease = await this.take(name, durationMs);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** Holds on for another `durationMs`. False where the lease is lost. */
  async renew(lease: Lease, durationMs: number): Promise<boolean> {
    try {
      await this.#table.put(this.#item(lease, durationMs), { kind: 'version', version: lease.token });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }

  /** A function to call often: it renews the lease at a third of its time, and throws LeaseLostError where that fails. */
  holder(lease: Lease, durationMs: number): () => Promise<void> {
    let renewedMs = this.#clock.nowMs();
    return async () => {
      if (this.#clock.nowMs() - renewedMs < durationMs / 3) return;
      if (!(await this.renew(lease, durationMs))) throw new LeaseLostError(lease.name);
      renewedMs = this.#clock.nowMs();
    };
  }

  /** Gives the lease back; nothing happens where it is lost already. */
  async release(lease: Lease): Promise<void> {
    try {
      await this.#table.delete(leaseKey(lease.name), { kind: 'version', version: lease.token });
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
    }
  }

  #item(lease: Lease, durationMs: number) {
    // Whole seconds, rounded up: a lease lasts at least as long as its holder thinks.
    const expiresAt = Math.ceil((this.#clock.nowMs() + durationMs) / 1000);
    return { ...leaseKey(lease.name), version: lease.token, body: new Uint8Array(0), expiresAt };
  }
}

/** Makes a transaction depend on the lease. */
export function fencedBy(lease: Lease): Write {
  return {
    kind: 'check',
    key: leaseKey(lease.name),
    condition: { kind: 'version', version: lease.token },
  };
}
