/** State of one tenant in this process for rate and stream limits, and when it is due for an exchange. */
import type { Limits } from '../../../base/model/limits.ts';
import { EXCHANGE_MS, EXCHANGE_TIMEOUT_MS, QUIET_PART, TENANT_WEIGHT } from './bounds.ts';
import { NO_SHARES, type StreamRate, type StreamShares } from './stream-rates.ts';
import { type Rate, TenantRate } from './tenant-rate.ts';
import { TenantStreams } from './tenant-streams.ts';

const MIB = 1024 ** 2;

export class TenantState {
  readonly rate = new TenantRate();
  readonly streams = new TenantStreams();
  /** Shares of the rates of single streams; see StreamRates. */
  shares: StreamShares = NO_SHARES;
  /** Read that first decisions wait for. */
  firstRead: Promise<void> | undefined;
  /** Number of streams that a push to this process made active, since the state was created. */
  created = 0;
  #exchangedMs = -Infinity;
  /** Number of the running exchange, or 0 if none runs. */
  #exchange = 0;
  #exchanges = 0;

  /** See LruCache. */
  get weight(): number {
    return TENANT_WEIGHT + this.streams.size;
  }

  /** Whether enough bytes were offered since the last report to report demand again. */
  hasDemand({ bytesPerSecond, isShared }: Rate): boolean {
    const quietBytes = (bytesPerSecond * EXCHANGE_MS * QUIET_PART) / 1000;
    return isShared && this.rate.offeredBytes > quietBytes;
  }

  /**
   * Starts an exchange and returns its number. Undefined if it is too early or another exchange is running.
   */
  beginExchange(nowMs: number): number | undefined {
    // A clock that was set back does not delay the exchange.
    const elapsedMs = Math.abs(nowMs - this.#exchangedMs);
    if (elapsedMs < (this.#exchange === 0 ? EXCHANGE_MS : EXCHANGE_TIMEOUT_MS)) return undefined;
    this.#exchangedMs = nowMs;
    this.#exchange = ++this.#exchanges;
    return this.#exchange;
  }

  /** Ends an exchange. One that timed out no longer counts as running. */
  endExchange(exchange: number): void {
    if (this.#exchange === exchange) this.#exchange = 0;
  }
}

export function tenantRateOf(limits: Limits): Rate {
  return {
    bytesPerSecond: limits.ingestionRateMb * MIB,
    burstBytes: limits.ingestionBurstSizeMb * MIB,
    isShared: limits.ingestionRateStrategy === 'global',
  };
}

export function streamRateOf(limits: Limits): StreamRate {
  return { bytesPerSecond: limits.perStreamRateLimit, burstBytes: limits.perStreamRateLimitBurst };
}
