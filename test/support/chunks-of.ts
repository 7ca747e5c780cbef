/** Chunks of a tenant in a time range, whatever their day. */
import type { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';

/** Inclusive range, ns. */
export async function chunksOf(
  catalog: Pick<Catalog, 'daysForQuery'>,
  tenant: string,
  startNs: bigint,
  endNs: bigint,
): Promise<readonly ChunkRecord[]> {
  return (await catalog.daysForQuery(tenant, startNs, endNs)).flatMap(({ records }) => records);
}
