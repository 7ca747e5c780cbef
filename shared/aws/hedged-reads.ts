/**
 * Ranged reads that take unusually long are asked for once more; the first answer wins, the other is let go. One read of a
 * hundred takes ten times the usual on S3, and a query of a hundred reads waits for the slowest.
 *
 *     delay     twice the 95th percentile of recent reads, for what is not larger than most
 *     budget    one hedge to twenty reads, so that a store that is slow as a whole is not asked twice as much
 *
 * Only reads: a repeated get changes nothing. The loser is aborted, so that its connection is free and its bytes are not sent;
 * its failure is nobody's. How long it took until then counts among the times of reads, or slow ones would be forgotten.
 */
import type { Clock } from '../ports/clock.ts';
import type { ObjectStore, ReadOptions } from '../ports/object-store.ts';

export interface HedgeOptions {
  readonly clock: Clock;
  /** Reads whose times are known before the first hedge. */
  readonly minSamples?: number;
  /** Bounds of the delay, ms: below, a pause of this process would count as slow; above, the attempt ends by itself. */
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
}

export interface HedgeFigures {
  reads: number;
  hedges: number;
  /** Hedges that were answered before the read that they repeat. */
  won: number;
}

export interface HedgedStore extends ObjectStore {
  readonly figures: HedgeFigures;
}

const SAMPLES = 256;
const QUANTILE = 0.95;
const DELAY_FACTOR = 2;
/** Reads that allow one hedge. */
const READS_PER_HEDGE = 20;
/** Larger reads are slower by themselves; at 80 MB/s this is 50 ms beside the 30 ms to the first byte. */
const MAX_HEDGED_BYTES = 4 * 1024 * 1024;

export function withHedgedReads(store: ObjectStore, options: HedgeOptions): HedgedStore {
  const { clock, minSamples = 32, minDelayMs = 50, maxDelayMs = 2_000 } = options;
  const figures: HedgeFigures = { reads: 0, hedges: 0, won: 0 };
  const samples = new Float64Array(SAMPLES);
  let taken = 0;
  /** Hedges that may be made now; a burst of at most a few. */
  let allowance = 1;

  function delayMs(): number | undefined {
    if (taken < minSamples) return undefined;
    const sorted = samples.slice(0, Math.min(taken, SAMPLES)).sort();
    const slow = sorted[Math.floor((sorted.length - 1) * QUANTILE)];
    return Math.min(maxDelayMs, Math.max(minDelayMs, DELAY_FACTOR * slow));
  }

  async function timed<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const started = clock.nowMs();
    let isAnswered = false;
    try {
      const result = await read();
      isAnswered = true;
      return result;
    } finally {
      if (isAnswered || signal.aborted) samples[taken++ % SAMPLES] = clock.nowMs() - started;
    }
  }

  /** @param read called with the signal of one try */
  async function hedged<T>(
    bytes: number,
    { signal: unwanted }: ReadOptions,
    read: (options: ReadOptions) => Promise<T>,
  ): Promise<T> {
    if (bytes > MAX_HEDGED_BYTES) return read({ signal: unwanted });
    figures.reads++;
    allowance = Math.min(READS_PER_HEDGE, allowance + 1 / READS_PER_HEDGE);
    const waitMs = delayMs();
    const [ofFirst, ofSecond] = [new AbortController(), new AbortController()];
    const tryWith = ({ signal }: AbortController) =>
      read({ signal: unwanted === undefined ? signal : AbortSignal.any([unwanted, signal]) });
    const first = timed(() => tryWith(ofFirst), ofFirst.signal);
    if (waitMs === undefined || allowance < 1) return first;
    const ended = new AbortController();
    const isLate = clock.sleep(waitMs, ended.signal).then(
      () => true,
      () => false,
    );
    // An error of the first read is an answer: the store has retries of its own.
    const answered = first.then(
      () => false,
      () => false,
    );
    const late = await Promise.race([isLate, answered]);
    ended.abort(new Error('answered'));
    if (!late || allowance < 1 || unwanted?.aborted) return first;
    allowance--;
    figures.hedges++;
    const second = tryWith(ofSecond);
    try {
      const { result, loser } = await Promise.any([
        first.then(result => ({ result, loser: ofSecond })),
        second.then(result => ({ result, loser: ofFirst })),
      ]);
      if (loser === ofFirst) figures.won++;
      loser.abort(new DOMException('another read was answered first', 'AbortError'));
      return result;
    } catch (error) {
      throw (error as AggregateError).errors[0];
    }
  }

  return {
    isDistant: store.isDistant,
    figures,
    putIfAbsent: (key, body) => store.putIfAbsent(key, body),
    get: key => store.get(key),
    getRange: (key, start, end, given = {}) =>
      hedged(end - start, given, options => store.getRange(key, start, end, options)),
    getTail: (key, length, given = {}) =>
      hedged(length, given, options => store.getTail(key, length, options)),
    head: key => store.head(key),
    delete: key => store.delete(key),
    list: (prefix, given) => store.list(prefix, given),
  };
}
