/**
 * A token bucket in bytes: it holds at most `burstBytes`, fills with the rate, and a push takes all that it needs or
 * nothing. Rate and burst are given with each call, because limits may change while the program runs.
 */
export interface TokenBucket {
  /** Bytes that may be taken at `atMs`. */
  tokens: number;
  atMs: number;
}

/** Full, whatever its burst is going to be. */
export function fullBucket(): TokenBucket {
  return { tokens: Infinity, atMs: 0 };
}

/** Takes `bytes`, or nothing and returns false. */
export function takeTokens(
  bucket: TokenBucket,
  bytes: number,
  bytesPerSecond: number,
  burstBytes: number,
  nowMs: number,
): boolean {
  // A clock that is set back fills nothing; the bucket goes on from the new time.
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  bucket.tokens = Math.min(burstBytes, bucket.tokens + (bytesPerSecond * elapsedMs) / 1000);
  bucket.atMs = nowMs;
  if (bytes > bucket.tokens) return false;
  bucket.tokens -= bytes;
  return true;
}
