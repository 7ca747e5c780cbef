/**
 * A canary that runs until it is stopped: four loops on one stream of known entries.
 *
 *     write        a batch each interval, repeated until the store acknowledges it
 *     tail         every acknowledged entry arrives within `waitMs`; otherwise a query searches it
 *     spot check   a query finds a random older batch, each line once
 *     metric test  a metric query counts as many entries as were acknowledged
 *
 * At the end every remembered batch is read once more.
 *
 * Pitfall: a push without a response may have been stored. The batch is sent again unchanged, so a query
 * returns it once. But a tail can show it twice, which is not counted for such batches. A batch whose push
 * ended without acknowledgment (refused, or the canary was stopped) may be stored or not, and never counts as
 * missing.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';
import {
  type BatchVerdict,
  type CanaryBatch,
  countLines,
  type FoundLines,
  judge,
  parseLine,
} from './batches.ts';
import type { CanaryMetrics } from './canary-metrics.ts';
import { type CanarySend, countEntries, pushBatch, RefusedError, readLines } from './requests.ts';

/**
 * Passes the entries of a live tail on until the signal aborts, and reconnects after errors. Never rejects.
 */
export type CanaryTail = (
  subscription: { readonly query: string; readonly startMs: number },
  handlers: {
    /** A line that no connection has shown before. */
    line(text: string): void;
    /** A line that the same connection has shown before. */
    repeated(text: string): void;
  },
  signal: AbortSignal,
) => Promise<void>;

export interface LiveCanaryOptions {
  /** Labels of the stream. No other canary may use them. */
  readonly stream: Readonly<Record<string, string>>;
  /** Interval of batches, ms; at least 10. */
  readonly intervalMs: number;
  /** Lines per batch, 1 to 1,000. */
  readonly lines: number;
  /** Maximum time from acknowledgment to arrival in the tail, ms. */
  readonly waitMs: number;
  /** Interval of spot checks and of metric tests, ms. */
  readonly checkIntervalMs: number;
  /** Time for which batches are remembered for both, ms. */
  readonly rememberMs: number;
  /** Duration; 0 runs until the signal aborts. */
  readonly durationMs: number;
}

interface LiveCanaryParts {
  readonly send: CanarySend;
  readonly tail: CanaryTail;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: CanaryMetrics;
  /** Prints a message for the operator. */
  readonly note: (text: string) => void;
}

export interface CanaryTotals {
  readonly entries: number;
  readonly websocketMissing: number;
  readonly missing: number;
  readonly duplicates: number;
  readonly spotChecked: number;
  readonly metricTests: number;
  readonly metricFailures: number;
  /** Number of batches that the store refused permanently. */
  readonly refused: number;
  /** Number of batches that could not be read at the end. */
  readonly unread: number;
  /** Number of retried requests. */
  readonly retries: number;
}

/** Interval for checking the arrivals in the tail. */
const JUDGE_MS = 1000;
/** Pause between two attempts of a request. */
const RETRY_MS = 500;
/** Maximum number of remembered batches: an hour of 27 per second. */
const MAX_BATCHES = 100_000;
/** Entries that every store returns to one query (`max_entries_limit_per_query`). */
const MAX_READ_LINES = 5000;
/** Reported consecutive failures: a store that is down for an hour needs no 7,200 lines. */
const MAX_REPORTED_FAILURES = 3;

interface SentBatch extends CanaryBatch {
  state: 'sending' | 'acknowledged' | 'unknown';
  tries: number;
  acknowledgedMs: number;
  readonly seen: Set<number>;
  isJudged: boolean;
  /** Problems already counted, because several checks may find the same. */
  reported: BatchVerdict;
}

/** Runs until the signal aborts or the duration ends. Never rejects: see isHealthy for the verdict. */
export async function runLiveCanary(
  parts: LiveCanaryParts,
  options: LiveCanaryOptions,
  signal: AbortSignal,
): Promise<CanaryTotals> {
  return new LiveCanary(parts, options, signal).run();
}

/** True if entries were written and all checks passed. */
export function isHealthy(totals: CanaryTotals): boolean {
  const { entries, websocketMissing, missing, duplicates, metricFailures, refused, unread } = totals;
  return entries > 0 && websocketMissing + missing + duplicates + metricFailures + refused + unread === 0;
}

class LiveCanary {
  readonly #parts: LiveCanaryParts;
  readonly #options: LiveCanaryOptions;
  readonly #selector: string;
  /** Stops writing and periodic checks. */
  readonly #writing = new AbortController();
  /** Stops the tail and its checks. */
  readonly #watching = new AbortController();
  /** Ordered by time. */
  readonly #batches = new Map<string, SentBatch>();
  readonly #totals = {
    entries: 0,
    websocketMissing: 0,
    missing: 0,
    duplicates: 0,
    spotChecked: 0,
    metricTests: 0,
    metricFailures: 0,
    refused: 0,
    unread: 0,
    retries: 0,
  };
  #failuresInARow = 0;

  constructor(parts: LiveCanaryParts, options: LiveCanaryOptions, signal: AbortSignal) {
    this.#parts = parts;
    this.#options = options;
    const pairs = Object.entries(options.stream).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    this.#selector = `{${pairs.join(', ')}}`;
    const stop = () => this.#writing.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  }

  async run(): Promise<CanaryTotals> {
    const { clock, tail } = this.#parts;
    const startMs = clock.nowMs();
    const watching = Promise.all([
      tail(
        { query: this.#selector, startMs },
        { line: text => this.#arrived(text), repeated: text => this.#arrivedAgain(text) },
        this.#watching.signal,
      ),
      this.#every(JUDGE_MS, this.#watching.signal, () => this.#judgeArrivals()),
    ]);
    const { durationMs, checkIntervalMs } = this.#options;
    if (durationMs > 0) {
      clock.sleep(durationMs, this.#writing.signal).then(
        () => this.#writing.abort(),
        () => undefined,
      );
    }
    await Promise.all([
      this.#write(),
      this.#every(checkIntervalMs, this.#writing.signal, () => this.#spotCheck()),
      this.#every(checkIntervalMs, this.#writing.signal, () => this.#testMetric()),
    ]);
    await this.#settle();
    this.#watching.abort();
    await watching;
    await this.#readAll();
    return { ...this.#totals };
  }

  async #write(): Promise<void> {
    const { clock, ids } = this.#parts;
    const { signal } = this.#writing;
    let lastMs = 0;
    while (!signal.aborted) {
      const atMs = Math.max(clock.nowMs(), lastMs + 2);
      lastMs = atMs;
      const batch: SentBatch = {
        name: ids.randomHex(8),
        atMs,
        lines: this.#options.lines,
        state: 'sending',
        tries: 0,
        acknowledgedMs: 0,
        seen: new Set(),
        isJudged: false,
        reported: { missing: 0, repeated: 0 },
      };
      // Added first, because the tail may show it before the push is acknowledged.
      this.#batches.set(batch.name, batch);
      await this.#push(batch);
      this.#forget();
      await this.#sleep(this.#options.intervalMs - (clock.nowMs() - atMs), signal);
    }
  }

  /** Repeats the push until the store acknowledges or refuses it, or the canary is stopped. */
  async #push(batch: SentBatch): Promise<void> {
    const { send, clock, metrics, note } = this.#parts;
    while (!this.#writing.signal.aborted) {
      batch.tries++;
      try {
        await pushBatch(send, batch, this.#options.stream);
        batch.state = 'acknowledged';
        batch.acknowledgedMs = clock.nowMs();
        this.#totals.entries += batch.lines;
        metrics.entries.inc(batch.lines);
        metrics.pushLatency.observe((batch.acknowledgedMs - batch.atMs) / 1000);
        this.#failuresInARow = 0;
        return;
      } catch (error) {
        this.#failed('push', error);
        if (error instanceof RefusedError && error.status < 500 && error.status !== 429) {
          this.#totals.refused++;
          note(error.message);
          break;
        }
        this.#totals.retries++;
        await this.#sleep(RETRY_MS, this.#writing.signal);
      }
    }
    batch.state = 'unknown';
    batch.isJudged = true;
  }

  #arrived(text: string): void {
    const parsed = parseLine(text);
    const batch = parsed && this.#batches.get(parsed.name);
    if (batch === undefined || parsed === undefined || batch.seen.has(parsed.number)) return;
    batch.seen.add(parsed.number);
    const { metrics, clock } = this.#parts;
    metrics.websocketEntries.inc();
    metrics.responseLatency.observe(Math.max(0, clock.nowMs() - batch.atMs) / 1000);
  }

  #arrivedAgain(text: string): void {
    const parsed = parseLine(text);
    const batch = parsed && this.#batches.get(parsed.name);
    if (batch === undefined || batch.tries > 1) return;
    const { missing, repeated } = batch.reported;
    this.#report(batch, { missing, repeated: repeated + 1 }, 'in one connection of the tail');
  }

  /**
   * Checks batches whose time to arrive is over. Lines that the tail did not show must at least be stored.
   */
  async #judgeArrivals(): Promise<void> {
    const { clock, metrics, note } = this.#parts;
    for (const batch of this.#batches.values()) {
      if (batch.isJudged || batch.state !== 'acknowledged') continue;
      const absent = batch.lines - batch.seen.size;
      if (absent > 0 && clock.nowMs() - batch.acknowledgedMs < this.#options.waitMs) continue;
      batch.isJudged = true;
      if (absent === 0) continue;
      this.#totals.websocketMissing += absent;
      metrics.websocketMissing.inc(absent);
      note(`${absent} lines of batch ${batch.name} did not arrive in the live tail`);
      const found = await this.#read([batch], 'query');
      if (found !== undefined) this.#report(batch, judge(found.get(batch.name), batch.lines), 'in a query');
    }
  }

  async #spotCheck(): Promise<void> {
    const known = [...this.#batches.values()].filter(({ state }) => state === 'acknowledged');
    if (known.length === 0) return;
    const { ids, metrics } = this.#parts;
    const batch = known[Number.parseInt(ids.randomHex(4), 16) % known.length];
    const found = await this.#read([batch], 'spot check');
    if (found === undefined) return;
    const verdict = judge(found.get(batch.name), batch.lines);
    this.#totals.spotChecked += batch.lines;
    metrics.spotChecks.inc(batch.lines);
    metrics.spotCheckMissing.inc(verdict.missing);
    this.#report(batch, verdict, 'in a spot check');
  }

  async #testMetric(): Promise<void> {
    const all = [...this.#batches.values()];
    const lastIndex = all.findLastIndex(({ state }) => state === 'acknowledged');
    if (lastIndex < 0) return;
    const counted = all.slice(0, lastIndex + 1);
    const sum = (some: readonly CanaryBatch[]) => some.reduce((lines, batch) => lines + batch.lines, 0);
    const expected = sum(counted.filter(({ state }) => state === 'acknowledged'));
    const atMost = sum(counted);
    const range = { fromMs: counted[0].atMs - 1, toMs: counted[lastIndex].atMs + 1 };
    try {
      const actual = await countEntries(this.#parts.send, this.#selector, range);
      const { metrics, note } = this.#parts;
      this.#totals.metricTests++;
      metrics.metricExpected.set(expected);
      metrics.metricActual.set(actual);
      if (actual >= expected && actual <= atMost) return;
      this.#totals.metricFailures++;
      metrics.metricFailures.inc();
      note(`a metric query counted ${actual} entries, expected ${expected}`);
    } catch (error) {
      this.#failed('metric test', error);
    }
  }

  /** Waits until all batches have arrived in the tail, or their time is over. */
  async #settle(): Promise<void> {
    const isOpen = () => [...this.#batches.values()].some(({ isJudged }) => !isJudged);
    while (isOpen()) {
      await this.#judgeArrivals();
      if (isOpen()) await this.#sleep(RETRY_MS, this.#watching.signal);
    }
  }

  /** Reads every remembered batch and checks that each line exists once. */
  async #readAll(): Promise<void> {
    const all = [...this.#batches.values()];
    const atOnce = Math.max(1, Math.floor(MAX_READ_LINES / (2 * this.#options.lines)));
    for (let i = 0; i < all.length; i += atOnce) {
      const some = all.slice(i, i + atOnce);
      const found = await this.#read(some, 'last read');
      if (found === undefined) this.#totals.unread += some.length;
      else
        for (const batch of some)
          this.#report(batch, judge(found.get(batch.name), batch.lines), 'at the end');
    }
  }

  /** Lines of adjacent batches; `undefined` if the store did not respond after several attempts. */
  async #read(batches: readonly CanaryBatch[], request: string): Promise<FoundLines | undefined> {
    const [first, last] = [batches[0], batches[batches.length - 1]];
    const range = { startMs: first.atMs, endMs: last.atMs + 1, limit: MAX_READ_LINES };
    for (const deadlineMs = this.#parts.clock.nowMs() + this.#options.waitMs; ; ) {
      try {
        return countLines(await readLines(this.#parts.send, this.#selector, range));
      } catch (error) {
        this.#failed(request, error);
        if (this.#parts.clock.nowMs() >= deadlineMs) return undefined;
        await this.#sleep(RETRY_MS, this.#watching.signal);
      }
    }
  }

  /** Counts the problems of a check that no earlier check found. */
  #report(batch: SentBatch, verdict: BatchVerdict, where: string): void {
    const { metrics, note } = this.#parts;
    const absent = batch.state === 'acknowledged' ? verdict.missing : 0;
    const missing = Math.max(0, absent - batch.reported.missing);
    const repeated = Math.max(0, verdict.repeated - batch.reported.repeated);
    if (missing + repeated === 0) return;
    batch.reported = {
      missing: batch.reported.missing + missing,
      repeated: batch.reported.repeated + repeated,
    };
    note(`batch ${batch.name}: ${missing} lines are missing, ${repeated} are repeated ${where}`);
    this.#totals.missing += missing;
    metrics.missing.inc(missing);
    this.#totals.duplicates += repeated;
    metrics.duplicates.inc(repeated);
  }

  #failed(request: string, error: unknown): void {
    const { metrics, note } = this.#parts;
    metrics.failedRequests.inc({ request });
    if (++this.#failuresInARow <= MAX_REPORTED_FAILURES)
      note(`${request}: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** Forgets batches that are too old or too many, after the tail check. */
  #forget(): void {
    const oldestMs = this.#parts.clock.nowMs() - this.#options.rememberMs;
    for (const { name, atMs, isJudged } of this.#batches.values()) {
      const isDue = atMs < oldestMs || this.#batches.size > MAX_BATCHES;
      if (!isDue || (!isJudged && this.#batches.size <= MAX_BATCHES)) return;
      this.#batches.delete(name);
    }
  }

  async #every(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await this.#sleep(ms, signal);
      if (!signal.aborted) await work();
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await this.#parts.clock.sleep(Math.max(0, ms), signal).catch(() => undefined);
  }
}
