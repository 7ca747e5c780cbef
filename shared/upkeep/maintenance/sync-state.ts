/**
 * The state machine of index sync (docs/dev/wire-format.md#index-sync), shared by all processes: idle,
 * requested, running. The table stores it, so that any process can accept the request, run the sync and
 * report the state.
 *
 * There is one sync at a time: a lease keeps a second from starting. If a process dies during a sync, its
 * lease ends and the next tick continues. Until then the sync counts as in progress.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';

type SyncTrigger = 'manual' | 'periodic';

interface SyncRecord {
  readonly inProgress: boolean;
  readonly trigger: SyncTrigger | 'never_triggered';
  /** Unix ms at which the sync in progress was requested. */
  readonly sinceMs: number;
  readonly lastDurationMs: number;
}

export interface SyncStatus {
  readonly inProgress: boolean;
  readonly lastTrigger: SyncRecord['trigger'];
  /** Present only while a sync is in progress. */
  readonly currentDurationMs: number | undefined;
  /** Duration of the newest completed sync, or 0 if there is none. */
  readonly lastDurationMs: number;
}

const STATE = 'sync';
const LEASE = 'sync';
/** Longer than the longest pause between two renewals: a day's index takes seconds. */
const LEASE_MS = 120_000;
const NEVER: SyncRecord = { inProgress: false, trigger: 'never_triggered', sinceMs: 0, lastDurationMs: 0 };
/**
 * Share of the interval between two periodic syncs after which one is due. With 1, a timer that fires
 * slightly early would skip a sync, which doubles the interval.
 */
const DUE_SHARE = 0.9;

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

  /**
   * Changes idle to in progress. Returns false if a sync is in progress. The caller of `work` then runs it.
   */
  async request(trigger: SyncTrigger): Promise<boolean> {
    return this.#change(value =>
      value.inProgress ? undefined : { ...value, inProgress: true, trigger, sinceMs: this.#clock.nowMs() },
    );
  }

  /**
   * Requests a periodic sync, unless the previous one, of either kind, was requested less than `everyMs` ago.
   * Returns false as `request` does.
   */
  async requestIfDue(everyMs: number): Promise<boolean> {
    const { value } = await this.#catalog.states.read(STATE, NEVER);
    if (this.#clock.nowMs() - value.sinceMs < everyMs * DUE_SHARE) return false;
    return this.request('periodic');
  }

  /**
   * Runs the requested sync, unless there is none or another process runs it. `sync` receives a function that
   * renews the lease and must call it often. The sync is over when `sync` resolves to true. Otherwise the
   * next call continues it.
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

  /** Returns false if `change` returns nothing to write. */
  async #change(change: (value: SyncRecord) => SyncRecord | undefined): Promise<boolean> {
    return this.#catalog.states.change(STATE, NEVER, change);
  }
}
