/**
 * Timestamps of the entries of one input. They depend on the input alone, so that an import that is repeated stores nothing twice:
 * the store keeps one of several entries with equal stream, timestamp and line. Entries of one input that tell the same time get
 * timestamps a nanosecond apart, in the order of the input, so that equal lines and their order stay.
 */

/** What a line without a time of its own gets. */
export type TimeFallback = 'previous' | 'file' | 'now' | 'skip';

export interface EntryTimesOptions {
  readonly fallback: TimeFallback;
  /** When the file was written last; undefined for what has no such time. */
  readonly fileNs: bigint | undefined;
  readonly nowNs: () => bigint;
}

/** Times that are remembered: lines of several threads are mixed over some seconds at most. */
const MAX_REMEMBERED_TIMES = 10_000;

export class EntryTimes {
  readonly #options: EntryTimesOptions;
  /** Entries with a time, by the time; the oldest is dropped. */
  readonly #counts = new Map<bigint, bigint>();
  #previousNs: bigint | undefined;
  /** Entries that got a time by the fallback rule. */
  withoutTime = 0;

  constructor(options: EntryTimesOptions) {
    this.#options = options;
  }

  /** Undefined if the entry is to be left out. */
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
