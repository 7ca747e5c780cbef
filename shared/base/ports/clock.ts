/** Time and randomness from outside, so that a whole system runs deterministically in a test. */
export interface Clock {
  /** Unix time, ns. */
  nowNs(): bigint;
  /** Unix time, ms. */
  nowMs(): number;
  /** Milliseconds since an arbitrary moment, of a clock that is never set. Absent if `nowMs` is never set back. */
  monotonicMs?(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** `bytes` random bytes as lower-case hex. */
  randomHex(bytes: number): string;
}
