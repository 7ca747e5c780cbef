/**
 * The state machine of index sync (docs/dev/wire-format.md#index-sync), shared by all processes: idle, asked for, running. It
 * lies in the table, so that any process may take the request, any other may do the work, and every one can tell how it stands.
 *
 * A sync is one whoever runs it: a lease keeps a second from beginning. Where a process dies in the middle, its lease ends
 * and the next tick goes on; until then the sync counts as in progress, which it is.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';

export type SyncTrigger = 'manual' | 'periodic';

interface SyncRecord {
  readonly inProgress: boolean;
  readonly trigger: SyncTrigger | 'never_triggered';
  /** Unix ms at which the sync in progress was asked for. */
  readonly sinceMs: number;
  readonly lastDurationMs: number;
}

export interface SyncStatus {
  readonly inProgress: boolean;
  readonly lastTrigger: SyncRecord['trigger'];
  /** Only while in progress. */
  readonly currentDurationMs: number | undefined;
  /** Of the newest completed sync; 0 where there is none. */
  readonly lastDurationMs: number;
}

const STATE = 'sync';
const LEASE = 'sync';
/** Longer than the longest pause between two renewals: a day's index takes seconds. */
const LEASE_MS = 120_000;
const NEVER: SyncRecord = { inProgress: false, trigger: 'never_triggered', sinceMs: 0, lastDurationMs: 0 };
/**
 * Of the time between two periodic syncs, after which one is due: a timer that calls a little early must not make it wait
 * for the call after, which is twice the time.
 */
const DUE_SHARE = 0.9;
/** Writers that came in between. */
const MAX_TRIES = 10;

export class SyncState {
  readonly #catalog: Catalog;
  readonly #clock: Clock;

  constructor({ catalog, clock }: { catalog: Catalog; clock: Clock }) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  async status(): Promise<SyncStatus> {
    const { value } = await this.#catalog.states.read(STATE, NEVER);
    return {
      inProgress: value.inProgress,
      lastTrigger: value.trigger,
      currentDurationMs: value.inProgress ? Math.max(0, this.#clock.nowMs() - value.sinceMs) : undefined,
      lastDurationMs: value.lastDurationMs,
    };
  }

  /** Idle becomes in progress; false where a sync is in progress already. Whoever calls `work` then does it. */
  async request(trigger: SyncTrigger): Promise<boolean> {
    return this.#change(value =>
      value.inProgress ? undefined : { ...value, inProgress: true, trigger, sinceMs: this.#clock.nowMs() },
    );
  }

  /** A periodic one, unless the one before, of either kind, was asked for less than `everyMs` ago. False as `request`. */
  async requestIfDue(everyMs: number): Promise<boolean> {
    const { value } = await this.#catalog.states.read(STATE, NEVER);
    if (this.#clock.nowMs() - value.sinceMs < everyMs * DUE_SHARE) return false;
    return this.request('periodic');
  }

  /**
   * Does what was asked for, unless nothing is or another process does it. `sync` gets a function to call often: it
   * holds the lease. The sync is over when `sync` resolves to true; otherwise the next call goes on.
   */
  async work(sync: (hold: () => Promise<void>) => Promise<boolean>): Promise<void> {
    const { states, leases } = this.#catalog;
    if (!(await states.read(STATE, NEVER)).value.inProgress) return;
    const lease = await leases.take(LEASE, LEASE_MS);
    if (lease === undefined) return;
    try {
      let renewedMs = this.#clock.nowMs();
      const done = await sync(async () => {
        if (this.#clock.nowMs() - renewedMs < LEASE_MS / 3) return;
        if (!(await leases.renew(lease, LEASE_MS))) throw new Error('another process took the sync over');
        renewedMs = this.#clock.nowMs();
      });
      if (done) await this.#complete();
    } finally {
      await leases.release(lease).catch(() => undefined);
    }
  }

  async #complete(): Promise<void> {
    await this.#change(value =>
      value.inProgress
        ? { ...value, inProgress: false, lastDurationMs: Math.max(0, this.#clock.nowMs() - value.sinceMs) }
        : undefined,
    );
  }

  /** False where `change` gives nothing to write. */
  async #change(change: (value: SyncRecord) => SyncRecord | undefined): Promise<boolean> {
    const { states } = this.#catalog;
    for (let i = 0; i < MAX_TRIES; i++) {
      const before = await states.read(STATE, NEVER);
      const value = change(before.value);
      if (value === undefined) return false;
      if (await states.replace(STATE, before, value)) return true;
    }
    throw new Error('the state of the index sync changes too fast');
  }
}
