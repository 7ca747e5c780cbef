/**
 * The masks of tenants as queries take them: compiled once for each version of a tenant's requests. The version is asked for
 * each query, because a request hides its lines from the moment that it is answered, in every process.
 *
 * A reader would get wrong how long a version must be known before what was read under it may be kept: a transaction may be
 * seen in parts, the new version before the request, and whoever made it may have died before it could raise the version once
 * more. Until then requests are read for each query.
 */

import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import {
  type DeleteRequest,
  isMasking,
  MASKED_AFTER_PROCESSED_MS,
} from '../../storage/catalog/delete-request.ts';
import { PageHitsCache } from './page-hits.ts';
import { compileDeleteFilters, type TenantDeleteFilters } from './tenant-delete-filters.ts';

export {
  type ChunkDeleteFilters,
  compileDeleteFilters,
  type TenantDeleteFilters,
} from './tenant-delete-filters.ts';

/** What it needs of the catalog's delete requests. */
export interface DeleteRequestReader {
  list(tenant: string): Promise<readonly DeleteRequest[]>;
  /** 0 where there never was a request. */
  version(tenant: string): Promise<number>;
}

/** Requests compiled at once, of all tenants: about 2 KB each. A tenant with more of its own is compiled for each query. */
const KEPT_REQUESTS = 20_000;

const NO_MASKS: TenantDeleteFilters = Object.freeze({
  version: '0',
  isEmpty: true,
  definitions: [],
  forChunk: () => undefined,
  coversEvenly: () => true,
});

/** Five times as long as parts of a transaction may be seen. */
export const SETTLED_MS = 5000;

interface Kept {
  readonly version: number;
  /** When this process saw the version first, Unix ms. */
  readonly seenMs: number;
  /** Read when the version was settled: it holds until there is another one. */
  readonly isSettled: boolean;
  /** What the masks are made of, to be compared. */
  readonly content: string;
  readonly masks: TenantDeleteFilters;
  /** From this time on fewer requests mask, Unix ms. */
  readonly untilMs: number;
}

export class MaskSource {
  readonly #deletes: DeleteRequestReader;
  readonly #clock: Clock;
  readonly #kept = new LruCache<string, Kept>(KEPT_REQUESTS);
  readonly #hits = new PageHitsCache();

  constructor({ deletes, clock }: { readonly deletes: DeleteRequestReader; readonly clock: Clock }) {
    this.#deletes = deletes;
    this.#clock = clock;
  }

  /** To be asked before the records of chunks are read. Throws what the table throws. */
  async masksOf(tenant: string): Promise<TenantDeleteFilters> {
    const version = await this.#deletes.version(tenant);
    if (version === 0) return NO_MASKS;
    const known = this.#kept.get(tenant);
    const nowMs = this.#clock.nowMs();
    const isKnown = known?.version === version && nowMs < known.untilMs;
    if (isKnown && known.isSettled) return known.masks;
    const seenMs = known?.version === version ? known.seenMs : nowMs;
    const isSettled = nowMs - seenMs >= SETTLED_MS;
    // Read after the version: at least as new, but for what was half way through then.
    const masking = (await this.#deletes.list(tenant)).filter(request => isMasking(request, nowMs));
    const content = contentOf(masking);
    if (isKnown && known.content === content) {
      this.#kept.set(tenant, { ...known, isSettled }, masking.length + 1);
      return known.masks;
    }
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { processedMs } of masking) {
      if (processedMs !== undefined) untilMs = Math.min(untilMs, processedMs + MASKED_AFTER_PROCESSED_MS);
    }
    const hits = this.#hits;
    const clock = this.#clock;
    // Of two lists under one version the later one is longer: caches must not take them for the same.
    const masks = compileDeleteFilters(masking, {
      clock,
      hits,
      version: `${version} ${untilMs} ${masking.length}`,
    });
    this.#kept.set(tenant, { version, seenMs, isSettled, content, masks, untilMs }, masking.length + 1);
    return masks;
  }
}

function contentOf(requests: readonly DeleteRequest[]): string {
  return JSON.stringify(requests, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
