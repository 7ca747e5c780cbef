/**
 * Refuses pushes of a tenant with hundreds of thousands of unmerged chunks, because queries and merges read
 * all of their records. It reads the number in parallel with a push and never delays one.
 *
 * Pitfall: nothing runs between pushes. In a function that is frozen between requests, a read may end with
 * the next request.
 */
import { ClientError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';

/** Minimum interval between two reads of a tenant's count. A read of a small count costs one read unit. */
const LOOK_EVERY_MS = 15_000;
/** Time after which a read that hangs no longer blocks the next one. */
const LOOK_TIMEOUT_MS = 60_000;
/** Maximum tenants with stored counts, 100 bytes each. */
const MAX_TENANTS = 10_000;
const TOO_MANY_REQUESTS = 429;

interface KnownBacklog {
  chunks: number;
  /** Start of the last read, Unix ms. */
  lookedMs: number;
  isLooking: boolean;
}

interface UnmergedBoundParts {
  /** Returns the approximate number of unmerged chunks of a tenant. */
  readonly chunksOf: (tenant: string) => Promise<number>;
  /** Maximum number of unmerged chunks. 0: no limit. */
  readonly maxChunks: number;
  readonly clock: Clock;
  /** Receives warnings about failed reads. */
  readonly log?: { warn(fields: object, message: string): void } | undefined;
}

export class UnmergedBound {
  readonly #parts: UnmergedBoundParts;
  readonly #tenants = new LruCache<string, KnownBacklog>(MAX_TENANTS);

  constructor(parts: UnmergedBoundParts) {
    this.#parts = parts;
  }

  /** Throws ClientError if pushes of the tenant must wait. */
  admit(tenant: string): void {
    const { maxChunks } = this.#parts;
    if (maxChunks === 0) return;
    let known = this.#tenants.get(tenant);
    if (known === undefined) {
      known = { chunks: 0, lookedMs: Number.NEGATIVE_INFINITY, isLooking: false };
      this.#tenants.set(tenant, known);
    }
    this.#lookIfDue(tenant, known);
    if (known.chunks < maxChunks) return;
    throw new ClientError(
      TOO_MANY_REQUESTS,
      `too many pushes of tenant ${tenant} wait to be merged (about ${known.chunks}, limit: ${maxChunks}); ` +
        'send fewer and larger pushes, and retry in a minute',
    );
  }

  #lookIfDue(tenant: string, known: KnownBacklog): void {
    const nowMs = this.#parts.clock.nowMs();
    // A clock that was set back does not delay the read.
    if (Math.abs(nowMs - known.lookedMs) < (known.isLooking ? LOOK_TIMEOUT_MS : LOOK_EVERY_MS)) return;
    known.lookedMs = nowMs;
    known.isLooking = true;
    this.#parts
      .chunksOf(tenant)
      .then(chunks => {
        known.chunks = chunks;
      })
      .catch(error => {
        // The count was not updated for this long, so it may be outdated.
        known.chunks = 0;
        this.#parts.log?.warn(
          { tenant, err: error },
          'the number of unmerged chunks is unknown; pushes are accepted',
        );
      })
      .finally(() => {
        known.isLooking = false;
      });
  }
}
