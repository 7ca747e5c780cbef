/**
 * Delete filters of tenants for queries, compiled once per version of a tenant's requests. Every query reads
 * the version, because a request hides its lines in every process as soon as it is acknowledged.
 *
 * Pitfall: requests read under a new version must not be cached immediately. A transaction can be visible in
 * parts, with the new version before the request, and its writer may have died before it raised the version
 * again. Until the version is SETTLED_MS old, every query reads the requests.
 */

import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import {
  type DeleteRequest,
  isHiding,
  MASKED_AFTER_PROCESSED_MS,
} from '../../storage/catalog/delete-request.ts';
import { PageHitsCache } from './page-hits.ts';
import { compileDeleteFilters, type TenantDeleteFilters } from './tenant-delete-filters.ts';

export {
  type ChunkDeleteFilters,
  compileDeleteFilters,
  type TenantDeleteFilters,
} from './tenant-delete-filters.ts';

/** The subset of the catalog's delete requests that this module uses. */
export interface DeleteRequestReader {
  list(tenant: string): Promise<readonly DeleteRequest[]>;
  /** Resolves to 0 for a tenant that never had a request. */
  version(tenant: string): Promise<number>;
}

/**
 * Compiled requests of all tenants in memory, about 2 KB each. A tenant with more is compiled for each query.
 */
const MAX_CACHED_REQUESTS = 20_000;

const NO_FILTERS: TenantDeleteFilters = Object.freeze({
  version: '0',
  isEmpty: true,
  definitions: [],
  forChunk: () => undefined,
  coversEvenly: () => true,
});

/** Five times as long as a transaction can be visible in parts. */
export const SETTLED_MS = 5000;

interface CacheEntry {
  readonly version: number;
  /** Unix ms when this process first saw the version. */
  readonly seenMs: number;
  /**
   * True if the requests were read when the version was settled. Then the entry is valid until the version
   * changes.
   */
  readonly isSettled: boolean;
  /** Serialized requests, for comparison. */
  readonly content: string;
  readonly filters: TenantDeleteFilters;
  /** Unix ms when the first of these requests stops hiding rows. */
  readonly untilMs: number;
}

export class DeleteFilterSource {
  readonly #deletes: DeleteRequestReader;
  readonly #clock: Clock;
  readonly #cache = new LruCache<string, CacheEntry>(MAX_CACHED_REQUESTS);
  readonly #hits = new PageHitsCache();

  constructor({ deletes, clock }: { readonly deletes: DeleteRequestReader; readonly clock: Clock }) {
    this.#deletes = deletes;
    this.#clock = clock;
  }

  /** Call it before reading the records of chunks. Throws the errors of the table. */
  async filtersOf(tenant: string): Promise<TenantDeleteFilters> {
    const version = await this.#deletes.version(tenant);
    if (version === 0) return NO_FILTERS;
    const known = this.#cache.get(tenant);
    const nowMs = this.#clock.nowMs();
    const isKnown = known?.version === version && nowMs < known.untilMs;
    if (isKnown && known.isSettled) return known.filters;
    const seenMs = known?.version === version ? known.seenMs : nowMs;
    const isSettled = nowMs - seenMs >= SETTLED_MS;
    // Read after the version, so the list is at least as new, except for a transaction in progress.
    const active = (await this.#deletes.list(tenant)).filter(request => isHiding(request, nowMs));
    const content = contentOf(active);
    if (isKnown && known.content === content) {
      this.#cache.set(tenant, { ...known, isSettled }, active.length + 1);
      return known.filters;
    }
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { processedMs } of active) {
      if (processedMs !== undefined) untilMs = Math.min(untilMs, processedMs + MASKED_AFTER_PROCESSED_MS);
    }
    const hits = this.#hits;
    const clock = this.#clock;
    // A later list under the same version is longer, and caches must not confuse the two.
    const filters = compileDeleteFilters(active, {
      clock,
      hits,
      version: `${version} ${untilMs} ${active.length}`,
    });
    this.#cache.set(tenant, { version, seenMs, isSettled, content, filters, untilMs }, active.length + 1);
    return filters;
  }
}

function contentOf(requests: readonly DeleteRequest[]): string {
  return JSON.stringify(requests, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
