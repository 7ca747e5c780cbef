/**
 * Limits the rate of one tenant in this process (docs/dev/wire-format.md#rate-of-a-tenant). A token bucket fills with the process's
 * share of the tenant's rate. A counter tracks what all processes took together.
 *
 * The share follows demand, so processes with even, lasting demand take no more than the rate together. While
 * demand moves between them, shares are up to two exchanges old and may add up to more than 1. The counter is
 * the backstop. Each process reports its total since its start, so any excess is found, and all processes
 * refuse until it is made up. With P processes, the amount taken in any window is at most
 *
 *     rate x window + (P + 1) x (burst + 2 x EXCHANGE_MS x rate)
 *
 * A process that takes a push knows what it took itself. Of each other process it knows everything except the
 * last interval and the time since. The counter refuses from burst + GROUP_SLACK_MS x rate on.
 */
import type { Demand, StreamDemand } from '../../../storage/catalog/ingest-exchange.ts';
import { GROUP_SLACK_MS, MAX_KNOWN_PROCESSES } from './bounds.ts';
import { demandOf, shareOf } from './share.ts';
import { fullBucket, takeTokens } from './token-bucket.ts';

/** Bytes and bytes per second. */
export interface Rate {
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
  /** If false, every process has the whole rate. */
  readonly isShared: boolean;
}

export class TenantRate {
  /** Number of processes known to share the tenant's rate. */
  processes = 1;
  /** Bytes offered since the last report. */
  offeredBytes = 0;
  /** Time of the last report, Unix ms. */
  reportedMs = -Infinity;
  readonly #bucket = fullBucket();
  #share = 1;
  #takenBytes = 0;
  #reportedBytes = 0;
  #ownDemand = 0;
  #othersDemand = 0;
  /** Bytes that all processes took beyond the rate. It decreases with the rate, never below 0. */
  #excess = 0;
  #excessMs = 0;
  /** Last reported total of each other process. */
  readonly #takenBy = new Map<string, number>();

  /** Bytes per second that all processes were offered, as last reported. 0 before the first report. */
  get demand(): number {
    return this.#ownDemand + this.#othersDemand;
  }

  /**
   * Takes `bytes` as a whole. Returns false and takes none if they do not fit. More than the burst never
   * fits.
   */
  take(bytes: number, { bytesPerSecond, burstBytes, isShared }: Rate, nowMs: number): boolean {
    this.offeredBytes += bytes;
    this.#drain(bytesPerSecond, nowMs);
    const allowed = burstBytes + (bytesPerSecond * GROUP_SLACK_MS) / 1000;
    if (isShared && this.#excess + bytes > allowed) return false;
    const own = isShared ? bytesPerSecond * this.#share : bytesPerSecond;
    if (!takeTokens(this.#bucket, bytes, own, burstBytes, nowMs)) return false;
    this.#takenBytes += bytes;
    this.#excess += bytes;
    return true;
  }

  /**
   * Returns the report for other processes. Demand above the tenant's rate counts as the rate, because no
   * process could take more.
   */
  report(
    process: string,
    hotStreams: readonly StreamDemand[],
    { bytesPerSecond }: Rate,
    nowMs: number,
  ): Demand {
    this.#ownDemand = Math.min(bytesPerSecond, demandOf(this.offeredBytes, nowMs - this.reportedMs));
    const newBytes = this.#takenBytes - this.#reportedBytes;
    this.offeredBytes = 0;
    this.#reportedBytes = this.#takenBytes;
    this.reportedMs = nowMs;
    return { process, bytesPerSecond: this.#ownDemand, takenBytes: this.#takenBytes, newBytes, hotStreams };
  }

  /** Applies the reports of all other processes. Call it after `report`. */
  learn(others: readonly Demand[], { bytesPerSecond }: Rate, nowMs: number): void {
    this.#drain(bytesPerSecond, nowMs);
    let demand = 0;
    for (const { process, bytesPerSecond: offered, takenBytes, newBytes } of others) {
      demand += offered;
      const before = this.#takenBy.get(process) ?? takenBytes - newBytes;
      this.#excess += Math.max(0, takenBytes - before);
      this.#takenBy.set(process, takenBytes);
    }
    this.#othersDemand = demand;
    this.processes = others.length + 1;
    this.#share = shareOf(this.#ownDemand, demand, this.processes);
    if (this.#takenBy.size > MAX_KNOWN_PROCESSES) this.#forgetAllBut(others);
  }

  #drain(bytesPerSecond: number, nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#excessMs);
    this.#excess = Math.max(0, this.#excess - (bytesPerSecond * elapsedMs) / 1000);
    this.#excessMs = nowMs;
  }

  #forgetAllBut(others: readonly Demand[]): void {
    this.#takenBy.clear();
    for (const { process, takenBytes } of others) this.#takenBy.set(process, takenBytes);
  }
}
