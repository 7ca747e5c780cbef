/**
 * The masks of tenants as queries take them: compiled once for each version of a tenant's requests. The version is asked for
 * each query, because a request hides its lines from the moment that it is answered, in every process.
 */
import { type DeleteRequest, isMasking, MASKED_AFTER_PROCESSED_MS } from '../catalog/delete-request.ts';
import { LruCache } from '../model/lru.ts';
import type { Clock } from '../ports/clock.ts';
import { PageHitsCache } from './page-hits.ts';
import { compileMasks, type TenantMasks } from './tenant-masks.ts';

export { type ChunkMasks, compileMasks, type TenantMasks } from './tenant-masks.ts';

/** What it needs of the catalog's delete requests. */
export interface DeleteRequestReader {
  list(tenant: string): Promise<readonly DeleteRequest[]>;
  /** 0 where there never was a request. */
  version(tenant: string): Promise<number>;
}

/** Requests compiled at once, of all tenants: about 2 KB each. A tenant with more of its own is compiled for each query. */
const KEPT_REQUESTS = 20_000;

const NO_MASKS: TenantMasks = Object.freeze({
  version: '0',
  isEmpty: true,
  definitions: [],
  forChunk: () => undefined,
  coversEvenly: () => true,
});

interface Kept {
  readonly version: number;
  readonly masks: TenantMasks;
  /** From this time on fewer requests mask, Unix ms. */
  readonly untilMs: number;
}

export class MaskSource {
  private readonly deletes: DeleteRequestReader;
  private readonly clock: Clock;
  private readonly kept = new LruCache<string, Kept>(KEPT_REQUESTS);
  private readonly hits = new PageHitsCache();

  constructor({ deletes, clock }: { readonly deletes: DeleteRequestReader; readonly clock: Clock }) {
    this.deletes = deletes;
    this.clock = clock;
  }

  /** To be asked before the records of chunks are read. Throws what the table throws. */
  async masksOf(tenant: string): Promise<TenantMasks> {
    const version = await this.deletes.version(tenant);
    if (version === 0) return NO_MASKS;
    const known = this.kept.get(tenant);
    const nowMs = this.clock.nowMs();
    if (known?.version === version && nowMs < known.untilMs) return known.masks;
    // Read after the version: at least as new.
    const masking = (await this.deletes.list(tenant)).filter(request => isMasking(request, nowMs));
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { processedMs } of masking) {
      if (processedMs !== undefined) untilMs = Math.min(untilMs, processedMs + MASKED_AFTER_PROCESSED_MS);
    }
    const { hits, clock } = this;
    const masks = compileMasks(masking, { clock, hits, version: `${version} ${untilMs}` });
    this.kept.set(tenant, { version, masks, untilMs }, masking.length + 1);
    return masks;
  }
}
