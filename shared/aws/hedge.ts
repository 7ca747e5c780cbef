/**
 * Sends an unusually slow request a second time. The first response wins, and the other request is aborted.
 * One S3 request in a hundred takes ten times the usual time. A query of a hundred reads waits for the
 * slowest read, and so does each push of a group.
 *
 *     delay     a multiple of the 95th percentile of recent requests, for requests up to a size limit
 *     budget    one hedge per twenty requests, so a store that is slow as a whole does not get twice the load
 *
 * Repeated reads change nothing. A repeated put of a new object is safe because it is conditional (see
 * s3-object-store.ts). A repeated transaction carries the token of the first (see dynamodb-table.ts).
 *
 * The loser is aborted to free its connection, and its failure is ignored. Its duration until the abort
 * counts as a sample, because slow requests would otherwise be missing from the percentile.
 */
import type { Clock } from '../base/ports/clock.ts';
import type { ObjectStore, ReadOptions } from '../base/ports/object-store.ts';

interface HedgeOptions {
  readonly clock: Clock;
  /** Number of recorded times before the first hedge. */
  readonly minSamples?: number;
  /** Multiple of the 95th percentile of recent requests. */
  readonly delayFactor?: number;
  /**
   * Bounds of the delay, ms. Below the minimum, a pause of this process would count as slow. Above the
   * maximum, the attempt times out by itself.
   */
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  /** Larger requests are not hedged, because they are slow by nature. */
  readonly maxBytes?: number;
}

interface HedgeFigures {
  requests: number;
  hedges: number;
  /** Hedges that completed before the request that they repeat. */
  won: number;
}

export interface Hedger {
  readonly figures: HedgeFigures;
  /** @param request called once or twice, each time with the signal of one try */
  run<T>(bytes: number, options: ReadOptions, request: (options: ReadOptions) => Promise<T>): Promise<T>;
}

interface HedgedStore extends ObjectStore {
  readonly figures: HedgeFigures;
}

const SAMPLES = 256;
const QUANTILE = 0.95;
/** Sorting the times takes as long as the rest of a hedge, and few new ones hardly change the percentile. */
const SAMPLES_PER_DELAY = 8;
/** Created once, because an error records where it was created. */
const ANSWERED = new DOMException('the request has completed', 'AbortError');
/** Number of requests that allow one hedge. */
const REQUESTS_PER_HEDGE = 20;
/**
 * Maximum size of a hedged read: 100 ms at 80 MB/s, after 30 ms to the first byte. A scan sends longer ones only ahead,
 * and does not wait for them.
 */
const MAX_READ_BYTES = 8 * 1024 * 1024;
const READ_DELAY_FACTOR = 2;
/**
 * Hedges of puts for pushes. A push waits for the delay plus one more put, and should take less than twice
 * the usual time. The delay is therefore just above the 95th percentile of puts.
 */
export const PUT_HEDGES: Omit<HedgeOptions, 'clock'> = Object.freeze({
  delayFactor: 1.1,
  minDelayMs: 20,
  maxBytes: 1024 * 1024,
});

/** Hedges of transactions, each of which a push waits for. Larger transactions are slow by nature. */
export const TRANSACTION_HEDGES: Omit<HedgeOptions, 'clock'> = Object.freeze({
  ...PUT_HEDGES,
  maxBytes: 256 * 1024,
});

export function createHedger(options: HedgeOptions): Hedger {
  const { clock, minSamples = 32, minDelayMs = 50, maxDelayMs = 2_000 } = options;
  const { delayFactor = READ_DELAY_FACTOR, maxBytes = MAX_READ_BYTES } = options;
  const figures: HedgeFigures = { requests: 0, hedges: 0, won: 0 };
  const samples = new Float64Array(SAMPLES);
  let taken = 0;
  let delay = 0;
  /** Number of recorded times from which on the delay is computed again. */
  let staleAt = 0;
  /** Hedges allowed now. A burst has at most REQUESTS_PER_HEDGE of them. */
  let allowance = 1;

  function delayMs(): number | undefined {
    if (taken < minSamples) return undefined;
    if (taken >= staleAt) {
      const sorted = samples.slice(0, Math.min(taken, SAMPLES)).sort();
      const slow = sorted[Math.floor((sorted.length - 1) * QUANTILE)];
      delay = Math.min(maxDelayMs, Math.max(minDelayMs, delayFactor * slow));
      staleAt = taken + SAMPLES_PER_DELAY;
    }
    return delay;
  }

  async function timed<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const started = clock.nowMs();
    let isAnswered = false;
    try {
      const result = await request();
      isAnswered = true;
      return result;
    } finally {
      if (isAnswered || signal.aborted) samples[taken++ % SAMPLES] = clock.nowMs() - started;
    }
  }

  async function run<T>(
    bytes: number,
    { signal: unwanted }: ReadOptions,
    request: (options: ReadOptions) => Promise<T>,
  ): Promise<T> {
    if (bytes > maxBytes) return request({ signal: unwanted });
    figures.requests++;
    allowance = Math.min(REQUESTS_PER_HEDGE, allowance + 1 / REQUESTS_PER_HEDGE);
    const waitMs = delayMs();
    const [ofFirst, ofSecond] = [new AbortController(), new AbortController()];
    const tryWith = ({ signal }: AbortController) =>
      request({ signal: unwanted === undefined ? signal : AbortSignal.any([unwanted, signal]) });
    const first = timed(() => tryWith(ofFirst), ofFirst.signal);
    if (waitMs === undefined || allowance < 1) return first;
    const ended = new AbortController();
    const isLate = clock.sleep(waitMs, ended.signal).then(
      () => true,
      () => false,
    );
    // A failed first request counts as completed: the store retries by itself.
    const answered = first.then(
      () => false,
      () => false,
    );
    const late = await Promise.race([isLate, answered]);
    ended.abort(ANSWERED);
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
      loser.abort(new DOMException('another request completed first', 'AbortError'));
      return result;
    } catch (error) {
      throw (error as AggregateError).errors[0];
    }
  }

  return { figures, run };
}

export function withHedgedReads(store: ObjectStore, options: HedgeOptions): HedgedStore {
  const { figures, run } = createHedger(options);
  return {
    isDistant: store.isDistant,
    figures,
    putIfAbsent: (key, body) => store.putIfAbsent(key, body),
    get: key => store.get(key),
    getRange: (key, start, end, given = {}) =>
      run(end - start, given, options => store.getRange(key, start, end, options)),
    getTail: (key, length, given = {}) => run(length, given, options => store.getTail(key, length, options)),
    head: key => store.head(key),
    delete: key => store.delete(key),
    list: (prefix, given) => store.list(prefix, given),
  };
}
