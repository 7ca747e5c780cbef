/**
 * Leases: at most one worker runs at a time, for as long as it renews. Fencing: every write of a holder is conditional
 * on its token, so a worker that stalled past the end of its lease publishes nothing.
 *
 *     A takes (token 1) ----- stalls ------------------ publishes: refused, the token is 2
 *                        lease ends | B takes (token 2) ----- publishes
 *
 * Tokens consist of the time and a random part. They cannot be counters, because an expired lease is deleted.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import { leaseKey } from './keys.ts';

/** Number of random values under each Unix ms (12 bits), so that two holders of one lease never share a token. */
const RANDOM_TOKENS = 4096;

export interface Lease {
  readonly name: string;
  /** Fencing token. */
  readonly token: number;
}

/** Another worker may hold the lease now. The caller must publish nothing more. */
export class LeaseLostError extends Error {
  constructor(name: string) {
    super(`the lease ${name} is lost`);
    this.name = 'LeaseLostError';
  }
}

/**
 * Lease of work that removes chunks of a day from the catalog: compaction, deletion, retention. On one machine also of
 * index sync.
 */
export function dayLease(tenant: string, day: number): string {
  return `day/${tenant}/${day}`;
}

/**
 * Lease of index sync over a distant table. It is separate because a sync may take longer than a large tenant's merges
 * can wait.
 */
export function indexLease(tenant: string, day: number): string {
  return `index/${tenant}/${day}`;
}

/** Lease of one index of a day (shared/storage/index/index-task.ts), for a function that writes it for the holder of `indexLease`. */
export function indexPartLease(tenant: string, day: number, fromMinute: number, streamPart: number): string {
  return `index/${tenant}/${day}/${fromMinute}/${streamPart}`;
}

/** Lease of one part of a day's merges (shared/upkeep/compaction/part-lease.ts). @param oldest ID of its oldest chunk */
export function partLease(tenant: string, day: number, oldest: string): string {
  return `part/${tenant}/${day}/${oldest}`;
}

/** Attempts, one per second. Slightly longer than the lease of a merge whose process died, which is 60 s. */
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

  /** The lease, or undefined if another worker holds it. After an error the lease may stay held until it expires. */
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

  /**
   * Acquires like `take`, but waits until the lease of a dead process expires. Undefined if another process still holds
   * it then.
   *
   * @param hold called before each further attempt. What it throws ends the wait.
   */
  async takePatiently(
    name: string,
    durationMs: number,
    hold: () => Promise<void> = async () => undefined,
  ): Promise<Lease | undefined> {
    for (let tries = 0; tries < PATIENT_TRIES; tries++) {
      if (tries > 0) {
        await this.#clock.sleep(PATIENT_PAUSE_MS);
        await hold();
      }
      const lease = await this.take(name, durationMs);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** Extends the lease by `durationMs`. False if the lease is lost. */
  async renew(lease: Lease, durationMs: number): Promise<boolean> {
    try {
      await this.#table.put(this.#item(lease, durationMs), { kind: 'version', version: lease.token });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }

  /**
   * Returns a function to call often. It renews the lease after a third of its duration, and throws LeaseLostError if
   * that fails.
   */
  holder(lease: Lease, durationMs: number): () => Promise<void> {
    let renewedMs = this.#clock.nowMs();
    return async () => {
      if (this.#clock.nowMs() - renewedMs < durationMs / 3) return;
      if (!(await this.renew(lease, durationMs))) throw new LeaseLostError(lease.name);
      renewedMs = this.#clock.nowMs();
    };
  }

  /** Releases the lease. Does nothing if it is lost already. */
  async release(lease: Lease): Promise<void> {
    try {
      await this.#table.delete(leaseKey(lease.name), { kind: 'version', version: lease.token });
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
    }
  }

  #item(lease: Lease, durationMs: number) {
    // Rounds up to whole seconds, so that a lease lasts at least as long as its holder expects.
    const expiresAt = Math.ceil((this.#clock.nowMs() + durationMs) / 1000);
    return { ...leaseKey(lease.name), version: lease.token, body: new Uint8Array(0), expiresAt };
  }
}

/** Makes a transaction conditional on the lease. */
export function fencedBy(lease: Lease): Write {
  return {
    kind: 'check',
    key: leaseKey(lease.name),
    condition: { kind: 'version', version: lease.token },
  };
}
