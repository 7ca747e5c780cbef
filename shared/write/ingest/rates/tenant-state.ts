/** What one process keeps of one tenant for its limits on rates and streams, and when it has something to exchange. */
import type { Limits } from '../../../base/model/limits.ts';
import { EXCHANGE_MS, EXCHANGE_TIMEOUT_MS, QUIET_PART, TENANT_WEIGHT } from './bounds.ts';
import { NO_SHARES, type StreamRate, type StreamShares } from './stream-rates.ts';
import { type Rate, TenantRate } from './tenant-rate.ts';
import { TenantStreams } from './tenant-streams.ts';

const MIB = 1024 ** 2;

export class TenantState {
  readonly rate = new TenantRate();
  readonly streams = new TenantStreams();
  /** Of the rates of single streams; see StreamRates. */
  shares: StreamShares = NO_SHARES;
  /** The read that first decisions wait for. */
  firstRead: Promise<void> | undefined;
  /** Streams that became active by a push to this process, since the state was made. */
  created = 0;
  #exchangedMs = -Infinity;
  /** Number of the exchange under way; 0 where there is none. */
  #exchange = 0;
  #exchanges = 0;

  /** See LruCache. */
  get weight(): number {
    return TENANT_WEIGHT + this.streams.size;
  }

  /** True where the others should hear of the demand: enough was offered since they did. */
  hasDemand({ bytesPerSecond, isShared }: Rate): boolean {
    const quietBytes = (bytesPerSecond * EXCHANGE_MS * QUIET_PART) / 1000;
    return isShared && this.rate.offeredBytes > quietBytes;
  }

  /** Begins an exchange: its number, or undefined where it is too early or another one is under way. */
  beginExchange(nowMs: number): number | undefined {
    // A clock that was set back makes nobody wait.
    const elapsedMs = Math.abs(nowMs - this.#exchangedMs);
    if (elapsedMs < (this.#exchange === 0 ? EXCHANGE_MS : EXCHANGE_TIMEOUT_MS)) return undefined;
    this.#exchangedMs = nowMs;
    this.#exchange = ++this.#exchanges;
    return this.#exchange;
  }

  /** One that hung is not under way any more. */
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
