/** Time and randomness from outside, so that tests can run a whole system deterministically. */
export interface Clock {
  /** Returns Unix time, ns. */
  nowNs(): bigint;
  /** Returns Unix time, ms. */
  nowMs(): number;
  /**
   * Returns milliseconds since an arbitrary moment, from a clock that is never set. Absent if `nowMs` is
   * never set back.
   */
  monotonicMs?(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** Returns `bytes` random bytes in lower-case hex. */
  randomHex(bytes: number): string;
}
