/**
 * Refuses pushes of a tenant whose chunks wait to be merged by the hundred thousand: queries and merges read all of their records. It
 * knows what compaction notes, and looks again beside a push, never in its way.
 *
 * Pitfall: nothing here runs between pushes. In a function that is frozen between requests a look may end with the next one.
 */
import { ClientError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';

/** Between two looks at a tenant: one read unit. */
const LOOK_EVERY_MS = 15_000;
/** A look that hangs does not keep others from being made. */
const LOOK_TIMEOUT_MS = 60_000;
/** Tenants that are remembered, 100 bytes each. */
const MAX_TENANTS = 10_000;
const TOO_MANY_REQUESTS = 429;

interface Known {
  chunks: number;
  /** Unix ms of the start of the last look. */
  lookedMs: number;
  isLooking: boolean;
}

export interface UnmergedBoundParts {
  /** Chunks of a tenant that wait to be merged. */
  readonly chunksOf: (tenant: string) => Promise<number>;
  /** 0: no bound. */
  readonly maxChunks: number;
  readonly clock: Clock;
  /** Told of looks that fail. */
  readonly log?: { warn(fields: object, message: string): void } | undefined;
}

export class UnmergedBound {
  readonly #parts: UnmergedBoundParts;
  readonly #tenants = new LruCache<string, Known>(MAX_TENANTS);

  constructor(parts: UnmergedBoundParts) {
    this.#parts = parts;
  }

  /** Throws ClientError if pushes of the tenant are to wait. */
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
      `too many pushes of tenant ${tenant} wait to be merged (${known.chunks}, limit: ${maxChunks}); ` +
        'send fewer and larger pushes, and retry in a minute',
    );
  }

  #lookIfDue(tenant: string, known: Known): void {
    const nowMs = this.#parts.clock.nowMs();
    // A clock that was set back makes nobody wait.
    if (Math.abs(nowMs - known.lookedMs) < (known.isLooking ? LOOK_TIMEOUT_MS : LOOK_EVERY_MS)) return;
    known.lookedMs = nowMs;
    known.isLooking = true;
    this.#parts
      .chunksOf(tenant)
      .then(chunks => {
        known.chunks = chunks;
      })
      .catch(error => {
        // Without news for so long, what is known may be over.
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
