/**
 * Limits rates of single streams (docs/dev/wire-format.md#rates-and-number-of-streams): a token bucket for each recently used stream. As in the
 * reference, a stream's entries of one push are accepted together or not at all.
 *
 * A stream whose pushes all reach one process has its whole rate there, however many processes exist. A
 * process reports streams that come near their limit. Demand divides the rate of a stream that several
 * processes report. Below HOT_PART / processes of the limit no process reports it. The processes together may
 * therefore accept 1 + HOT_PART times the limit.
 *
 * Two generations of buckets replace an LRU order: a bucket that is unused for a whole generation is dropped.
 */
import type { Demand, StreamDemand } from '../../../storage/catalog/ingest-exchange.ts';
import { MAX_HOT_STREAMS, MAX_STREAM_BUCKETS, STREAM_GENERATION_MS } from './bounds.ts';
import { demandOf, shareOf } from './share.ts';
import { fullBucket, type TokenBucket, takeTokens } from './token-bucket.ts';

/** Share of a stream's limit, divided by the number of processes, from which on the stream is reported. */
const HOT_PART = 1 / 2;

interface StreamBucket extends TokenBucket {
  /** Bytes offered since the last report. */
  offeredBytes: number;
}

type Generation = Map<string, Map<number, StreamBucket>>;

export interface StreamRate {
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
}

/** Shares of the streams that other processes report. Other streams have their whole rate. */
export type StreamShares = ReadonlyMap<number, number>;

export const NO_SHARES: StreamShares = new Map();

export class StreamRates {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #youngCount = 0;
  #youngSinceMs = -Infinity;

  /**
   * Takes `bytes` of a stream as a whole. Returns false and takes none if they do not fit. More than the
   * burst never fits.
   */
  take(
    { tenant, hash, shares }: { tenant: string; hash: number; shares: StreamShares },
    bytes: number,
    { bytesPerSecond, burstBytes }: StreamRate,
    nowMs: number,
  ): boolean {
    const bucket = this.#bucketOf(tenant, hash, nowMs);
    bucket.offeredBytes += bytes;
    const share = shares.size === 0 ? 1 : (shares.get(hash) ?? 1);
    return takeTokens(bucket, bytes, bytesPerSecond * share, burstBytes, nowMs);
  }

  /** Returns the streams near their limit, the hottest first, and resets their counts. */
  hot(
    tenant: string,
    { processes, rate, elapsedMs }: { processes: number; rate: StreamRate; elapsedMs: number },
  ): StreamDemand[] {
    const least = (rate.bytesPerSecond * HOT_PART) / processes;
    const found: StreamDemand[] = [];
    for (const buckets of [this.#young.get(tenant), this.#old.get(tenant)]) {
      for (const [hash, bucket] of buckets ?? []) {
        const demand = demandOf(bucket.offeredBytes, elapsedMs);
        bucket.offeredBytes = 0;
        if (demand >= least && demand > 0) found.push([hash, Math.round(demand)]);
      }
    }
    return found.sort(([, a], [, b]) => b - a).slice(0, MAX_HOT_STREAMS);
  }

  #bucketOf(tenant: string, hash: number, nowMs: number): StreamBucket {
    if (this.#youngCount >= MAX_STREAM_BUCKETS || nowMs - this.#youngSinceMs >= STREAM_GENERATION_MS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngCount = 0;
      this.#youngSinceMs = nowMs;
    }
    let buckets = this.#young.get(tenant);
    if (buckets === undefined) this.#young.set(tenant, (buckets = new Map()));
    let bucket = buckets.get(hash);
    if (bucket === undefined) {
      const aged = this.#old.get(tenant);
      bucket = aged?.get(hash) ?? { ...fullBucket(), offeredBytes: 0 };
      aged?.delete(hash);
      buckets.set(hash, bucket);
      this.#youngCount++;
    }
    return bucket;
  }
}

/**
 * Returns the shares of a process in streams that others report.
 *
 * @param own what this process reported
 */
export function streamShares(
  own: readonly StreamDemand[],
  others: readonly Demand[],
  processes: number,
): StreamShares {
  const byOthers = new Map<number, number>();
  for (const { hotStreams } of others) {
    for (const [hash, demand] of hotStreams) byOthers.set(hash, (byOthers.get(hash) ?? 0) + demand);
  }
  if (byOthers.size === 0) return NO_SHARES;
  const demandOfOwn = new Map(own);
  const shares = new Map<number, number>();
  for (const [hash, demand] of byOthers) {
    shares.set(hash, shareOf(demandOfOwn.get(hash) ?? 0, demand, processes));
  }
  return shares;
}
