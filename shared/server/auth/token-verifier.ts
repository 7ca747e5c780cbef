/**
 * Verifies a token and returns its identity.
 *
 * Pitfall: a revoked token works for up to `maxAgeMs` in a process that has cached it. A token that was
 * refused before it was created is refused as long. The cache key is the hash of the whole token, so the time
 * of a lookup reveals nothing to an attacker. Hashes are compared in constant time, even if no record exists.
 */
import { timingSafeEqual } from 'node:crypto';
import { LruCache } from '../../base/model/lru.ts';
import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import type { StoredToken, Tokens } from '../../storage/catalog/tokens.ts';
import { TooManyAttemptsError, UnauthenticatedError } from './errors.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import { type Identity, identityOf } from './identity.ts';
import { hashOf, idOfToken } from './token-text.ts';

/** Maximum time for which a revoked token works. A token in use costs one read of the table per interval. */
export const VERIFIED_MS = 30_000;
/** Cached tokens: more than the agents of one process use. A miss costs one small read. */
const MAX_KNOWN = 10_000;
/** Cached refusals. A misconfigured agent repeats its token. An attacker does not, and may evict others. */
const MAX_REFUSED = 1000;
/** Concurrent lookups, each a small read. */
const MAX_LOOKUPS = 200;
const NO_HASH = Buffer.alloc(32);

export type Refusal = 'malformed' | 'unknown' | 'expired' | 'revoked' | 'too many attempts';

const MESSAGES = {
  malformed: 'not a Logboom token',
  unknown: 'invalid token',
  // Only a client with the whole token gets this message.
  expired: 'the token has expired',
  revoked: 'the token has been revoked',
} as const;

interface VerifierParts {
  readonly tokens: Tokens;
  readonly clock: Clock;
  /** Shared with other kinds of credentials. */
  readonly attempts: FailedAttempts;
  /** Time for which results are cached, ms; 0 reads the table each time. Default: VERIFIED_MS. */
  readonly maxAgeMs?: number | undefined;
  readonly onRefused?: ((why: Refusal) => void) | undefined;
}

interface VerifiedToken {
  readonly identity: Identity;
  readonly verifiedMs: number;
}

interface RefusedToken {
  readonly why: keyof typeof MESSAGES;
  readonly refusedMs: number;
}

export class TokenVerifier {
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #maxAgeMs: number;
  readonly #onRefused: (why: Refusal) => void;
  readonly #attempts: FailedAttempts;
  readonly #known = new LruCache<string, VerifiedToken>(MAX_KNOWN);
  readonly #refused = new LruCache<string, RefusedToken>(MAX_REFUSED);
  readonly #lookups = new Map<string, Promise<Identity>>();

  constructor({ tokens, clock, attempts, maxAgeMs = VERIFIED_MS, onRefused }: VerifierParts) {
    this.#tokens = tokens;
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
    this.#onRefused = onRefused ?? (() => undefined);
    this.#attempts = attempts;
  }

  /**
   * Throws UnauthenticatedError, TooManyAttemptsError, ThrottledError, or the errors of the table. Any error
   * denies access.
   */
  async verify(token: string, address: string): Promise<Identity> {
    const id = idOfToken(token);
    if (id === undefined) throw this.#refusal('malformed');
    const hash = hashOf(token);
    const key = hash.toString('hex');
    const nowMs = this.#clock.nowMs();
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.verifiedMs < this.#maxAgeMs) {
      if (isOver(known.identity.expiresMs, nowMs)) throw this.#refusal('expired');
      return known.identity;
    }
    const refused = this.#refused.get(key);
    if (refused !== undefined && nowMs - refused.refusedMs < this.#maxAgeMs) throw this.#refusal(refused.why);
    const running = this.#lookups.get(key);
    if (running !== undefined) return running;
    // Verifying a known token again is not an attempt.
    const isAttempt = known === undefined;
    if (isAttempt && !this.#attempts.take(address)) {
      this.#onRefused('too many attempts');
      throw new TooManyAttemptsError();
    }
    const lookup = this.#lookUp(id, hash, key)
      .catch((error: unknown) => {
        if (isAttempt && !(error instanceof UnauthenticatedError)) this.#attempts.release(address);
        throw error;
      })
      .finally(() => this.#lookups.delete(key));
    this.#lookups.set(key, lookup);
    const identity = await lookup;
    if (isAttempt) this.#attempts.release(address);
    return identity;
  }

  /** Checks that the token behind another credential is still valid. Throws like `verify`. */
  async checkStillGood(tokenId: string): Promise<void> {
    const stored = await this.#tokens.get(tokenId);
    const why = stored === undefined ? 'unknown' : this.#endOf(stored);
    if (why !== undefined) throw this.#refusal(why);
  }

  async #lookUp(id: string, hash: Buffer, key: string): Promise<Identity> {
    if (this.#lookups.size >= MAX_LOOKUPS)
      throw new ThrottledError('too many concurrent token lookups; retry later');
    const stored = await this.#tokens.get(id);
    const expected = stored === undefined ? NO_HASH : Buffer.from(stored.record.hash, 'hex');
    const isSame = timingSafeEqual(hash, expected);
    const why = stored === undefined || !isSame ? 'unknown' : this.#endOf(stored);
    if (stored === undefined || why !== undefined) {
      this.#known.delete(key);
      const reason = why ?? 'unknown';
      this.#refused.set(key, { why: reason, refusedMs: this.#clock.nowMs() });
      throw this.#refusal(reason);
    }
    const identity = identityOf(stored.record);
    this.#known.set(key, { identity, verifiedMs: this.#clock.nowMs() });
    await this.#noteUse(stored);
    return identity;
  }

  #endOf({ record: { expiresMs, revokedMs } }: StoredToken): 'expired' | 'revoked' | undefined {
    if (revokedMs !== undefined) return 'revoked';
    return isOver(expiresMs, this.#clock.nowMs()) ? 'expired' : undefined;
  }

  /**
   * Records the use once a day. Ignores conflicts and write errors, because the date only helps to find
   * unused tokens.
   */
  async #noteUse({ record, version }: StoredToken): Promise<void> {
    const today = Math.floor(this.#clock.nowMs() / MS_PER_DAY);
    if (record.lastUsedDay !== undefined && record.lastUsedDay >= today) return;
    await this.#tokens.replace(version, { ...record, lastUsedDay: today }).catch(() => false);
  }

  #refusal(why: keyof typeof MESSAGES): UnauthenticatedError {
    this.#onRefused(why);
    return new UnauthenticatedError(MESSAGES[why]);
  }
}

function isOver(expiresMs: number | undefined, nowMs: number): boolean {
  return expiresMs !== undefined && expiresMs <= nowMs;
}
