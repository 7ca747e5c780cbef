/**
 * A token bucket in bytes. It holds at most `burstBytes` and fills with the rate. A push takes all that it
 * needs or nothing. Rate and burst are arguments of each call, because limits may change at runtime.
 */
export interface TokenBucket {
  /** Available bytes at `atMs`. */
  tokens: number;
  atMs: number;
}

/** Returns a full bucket, whatever its burst will be. */
export function fullBucket(): TokenBucket {
  return { tokens: Infinity, atMs: 0 };
}

/** Takes `bytes`. Returns false and takes none if they do not fit. */
export function takeTokens(
  bucket: TokenBucket,
  bytes: number,
  bytesPerSecond: number,
  burstBytes: number,
  nowMs: number,
): boolean {
  // A clock that is set back adds nothing; the bucket continues from the new time.
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  bucket.tokens = Math.min(burstBytes, bucket.tokens + (bytesPerSecond * elapsedMs) / 1000);
  bucket.atMs = nowMs;
  if (bytes > bucket.tokens) return false;
  bucket.tokens -= bytes;
  return true;
}
