/**
 * Assigns timestamps to the entries of one input. They depend only on the input, so a repeated import stores
 * nothing twice: the store keeps one of several entries with equal stream, timestamp and line. Entries with
 * the same time get timestamps 1 ns apart in input order, so that equal lines and their order are kept.
 */

/** Time that a line without a time gets. */
export type TimeFallback = 'previous' | 'file' | 'now' | 'skip';

interface EntryTimesOptions {
  readonly fallback: TimeFallback;
  /** Modification time of the file; undefined for inputs that have none. */
  readonly fileNs: bigint | undefined;
  readonly nowNs: () => bigint;
}

/** Maximum number of remembered times. Lines of several threads interleave within seconds at most. */
const MAX_REMEMBERED_TIMES = 10_000;

export class EntryTimes {
  readonly #options: EntryTimesOptions;
  /** Number of entries by time; the oldest time is evicted first. */
  readonly #counts = new Map<bigint, bigint>();
  #previousNs: bigint | undefined;
  /** Number of entries whose time comes from the fallback rule. */
  withoutTime = 0;

  constructor(options: EntryTimesOptions) {
    this.#options = options;
  }

  /** Timestamp of the next entry; undefined if the entry is to be skipped. */
  next(ownNs: bigint | undefined): bigint | undefined {
    const ns = ownNs ?? this.#fallbackNs();
    if (ownNs === undefined) this.withoutTime++;
    if (ns === undefined) return undefined;
    this.#previousNs = ns;
    const count = this.#counts.get(ns) ?? 0n;
    this.#counts.set(ns, count + 1n);
    if (this.#counts.size > MAX_REMEMBERED_TIMES) this.#counts.delete(this.#counts.keys().next().value!);
    return ns + count;
  }

  #fallbackNs(): bigint | undefined {
    const { fallback, fileNs, nowNs } = this.#options;
    if (fallback === 'skip') return undefined;
    if (fallback === 'now') return nowNs();
    if (fallback === 'previous' && this.#previousNs !== undefined) return this.#previousNs;
    return fileNs ?? nowNs();
  }
}
