/**
 * The plain way to swap, which looks right: inputs out, outputs in and the day's version up in one
 * transaction. It is right if reads see transactions whole. It is here to show which checks notice that it is
 * wrong if they see them in parts.
 */

import { ConditionFailedError, type Write } from '../../../shared/base/ports/table.ts';
import type { CatalogParts } from '../../../shared/storage/catalog/catalog.ts';
import { encodeRecord, objectKey } from '../../../shared/storage/catalog/chunk-record.ts';
import { type Day, encodeDay, indexKeysOf } from '../../../shared/storage/catalog/day-item.ts';
import { garbageWrite } from '../../../shared/storage/catalog/garbage.ts';
import { chunkKey } from '../../../shared/storage/catalog/keys.ts';
import { fencedBy } from '../../../shared/storage/catalog/leases.ts';
import { type Swap, SwapConflictError } from '../../../shared/storage/catalog/swap.ts';

export async function swapAtOnce({ table, clock, ids }: CatalogParts, swap: Swap): Promise<Day> {
  const { tenant, day, lease, removed, added, indexes, graceMs } = swap;
  const next: Day = { ...day, version: day.version + 1, indexes: indexes ?? day.indexes };
  const condition = { kind: 'version', version: day.version } as const;
  const keys = removed.filter(({ inline }) => inline === undefined).map(objectKey);
  if (indexes !== undefined) keys.push(...indexKeysOf(tenant, day));
  const writes: Write[] = [
    fencedBy(lease),
    { kind: 'put', item: encodeDay(tenant, next), condition },
    ...removed.map(
      (record): Write => ({ kind: 'delete', key: chunkKey(record), condition: { kind: 'present' } }),
    ),
    ...added.map(
      (record): Write => ({
        kind: 'put',
        item: { ...chunkKey(record), version: 0, body: encodeRecord(record) },
      }),
    ),
    garbageWrite(ids.randomHex(16), keys, clock.nowMs() + graceMs),
  ];
  try {
    await table.transact(writes);
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
    throw new SwapConflictError('the day has changed', { cause: error });
  }
  return next;
}
