/**
 * Serves the tails whose connections this process holds, with one loop per tenant that has any. A commit of
 * this process wakes the loop at once, after the push response. Commits of other processes are read every
 * `pollMs`.
 *
 * Pushes share the thread. After serving, a loop therefore pauses before it serves again: longer with more
 * tails and a busier thread. Pushes in between are served together, so the cost of tails does not grow with
 * the number of pushes. Tails that arrive in quick succession join together, too.
 *
 *     push  push push push push                        push
 *       |-----pause-----|                                |
 *     served          served together                  served at once
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { LoggedChunk } from '../../storage/catalog/tail-log.ts';
import {
  BUSY_PAUSE_MS,
  BUSY_PAUSE_MS_PER_TAIL,
  BUSY_SHARE,
  MAX_PAUSE_MS,
  PAUSE_MS_PER_TAIL,
  TAIL_PAUSE_MS,
} from './bounds.ts';
import type { TenantTailParts } from './tail-parts.ts';
import { TenantTail } from './tenant-tail.ts';
import { Wake } from './wake.ts';

interface TailServerParts extends TenantTailParts {
  /** Interval of reading commits of other processes, ms. */
  readonly pollMs: number;
  /** Returns the busy share of the thread since the last call: 0 to 1. Default: idle. */
  readonly busyShare?: (() => number) | undefined;
}

/** Pause after a failed step: the table or the store is unavailable. */
const FAILED_PAUSE_MS = 1_000;

interface ServedTenant {
  readonly tail: TenantTail;
  readonly wake: Wake;
  /** Whether there may be tails that the loop has not seen. */
  isNew: boolean;
  /** Time when tails last joined, Unix ms. */
  joinedMs: number;
  loop: Promise<void>;
}

export class TailServer {
  readonly #parts: TailServerParts;
  readonly #clock: Clock;
  readonly #tenants = new Map<string, ServedTenant>();
  readonly #unlisten: () => void;
  #isStopping = false;

  constructor(parts: TailServerParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    const { tailLog } = parts.catalog;
    const take = (chunks: readonly LoggedChunk[]) => this.#take(chunks);
    const logged = (tenant: string) => this.logged(tenant);
    this.#unlisten = parts.hearsAll
      ? tailLog.followAll({ take, logged })
      : tailLog.listen(chunks => {
          // They are in the log already.
          if (!take(chunks)) for (const { record } of chunks) logged(record.tenant);
        });
  }

  /** Returns false if a loop cannot hold its commits. */
  #take(chunks: readonly LoggedChunk[]): boolean {
    let fitsAll = true;
    for (const chunk of chunks) {
      const served = this.#tenants.get(chunk.record.tenant);
      if (served === undefined) continue;
      if (!served.tail.notice(chunk)) fitsAll = false;
      served.wake.call();
    }
    return fitsAll;
  }

  /** Reports commits in the log that `take` could not hold, or that came without a notice. */
  logged(tenant: string): void {
    const served = this.#tenants.get(tenant);
    served?.tail.overflowed();
    served?.wake.call();
  }

  /** Reports that a tail of the tenant has been stored. */
  opened(tenant: string): void {
    if (this.#isStopping) return;
    let served = this.#tenants.get(tenant);
    if (served === undefined) {
      const tail = new TenantTail(tenant, this.#parts);
      served = {
        tail,
        wake: new Wake(this.#clock),
        isNew: true,
        joinedMs: -Infinity,
        loop: Promise.resolve(),
      };
      this.#tenants.set(tenant, served);
      served.loop = this.#keepServing(tenant, served);
      return;
    }
    served.isNew = true;
    served.tail.changed();
    // Other tails have just joined: more may come.
    if (Math.abs(this.#clock.nowMs() - served.joinedMs) < TAIL_PAUSE_MS) served.wake.call();
    else served.wake.hurry();
  }

  /** Reports that a connection has closed. */
  closed(tenant: string, connectionId: string): void {
    const served = this.#tenants.get(tenant);
    served?.tail.drop(connectionId);
    served?.wake.call();
  }

  /** Stops serving. Connections and records belong to the caller. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unlisten();
    const all = [...this.#tenants.values()];
    for (const { wake } of all) wake.hurry();
    await Promise.all(all.map(({ loop }) => loop));
  }

  /**
   * Depends on all tails of the process: the few tails of one tenant share the thread with the many of
   * another.
   */
  #pauseMs(): number {
    let tails = 0;
    for (const { tail } of this.#tenants.values()) tails += tail.count;
    const busy = this.#parts.busyShare?.() ?? 0;
    const idleMs = Math.max(TAIL_PAUSE_MS, tails * PAUSE_MS_PER_TAIL);
    const busyMs = Math.max(BUSY_PAUSE_MS, tails * BUSY_PAUSE_MS_PER_TAIL);
    const pressure = Math.max(0, (busy - BUSY_SHARE) / (1 - BUSY_SHARE));
    return Math.min(MAX_PAUSE_MS, idleMs + (busyMs - idleMs) * pressure);
  }

  async #keepServing(tenant: string, served: ServedTenant): Promise<void> {
    const { tail, wake } = served;
    const { pollMs, log } = this.#parts;
    let readMs = -Infinity;
    while (!this.#isStopping) {
      served.isNew = false;
      const startedMs = this.#clock.nowMs();
      const readsLog = Math.abs(startedMs - readMs) >= pollMs;
      let waitMs = FAILED_PAUSE_MS;
      try {
        const { commits, joined } = await tail.step({ readsLog });
        if (readsLog) readMs = startedMs;
        if (joined > 0) served.joinedMs = this.#clock.nowMs();
        if (!this.#isStopping) {
          if (joined > 0) await wake.pause(TAIL_PAUSE_MS);
          else if (commits > 0 && !served.isNew) await wake.pause(this.#pauseMs());
        }
        waitMs = Math.min(pollMs, tail.nextMs());
        if (tail.count === 0 && !served.isNew) break;
      } catch (error) {
        if (!this.#isStopping) log.error({ tenant, err: error }, 'serving tails failed');
      }
      if (served.isNew || tail.hasNotices) waitMs = Math.min(waitMs, 0);
      await wake.wait(waitMs);
    }
    if (this.#tenants.get(tenant) === served) this.#tenants.delete(tenant);
    await tail.stop();
  }
}
