/**
 * Removes a day without chunks from the catalog, together with its index. This happens only if no process still relies
 * on its announcement of the day (outstanding.ts). Otherwise a chunk committed later would be in a day that no query
 * reads.
 *
 *     announcement            reads the day's item, then: check it is there, put the item of outstanding work, put chunks
 *     removal                 reads the work item, then: delete the day's item, and the work item on condition
 *
 * The second transaction fails on its condition: the day's item is missing, or the work item exists.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import { type Day, indexKeysOf } from './day-item.ts';
import { garbageWrite } from './garbage.ts';
import { dayKey, workKey } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';
import { mayBeRemoved } from './outstanding.ts';

export interface EmptyDay {
  readonly tenant: string;
  /** The day as read before its chunks, of which there were none. */
  readonly day: Day;
  readonly lease: Lease;
  /** Time after which the index may be deleted, ms from now. */
  readonly graceMs: number;
}

interface EmptyDayParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** False if the day must stay for now. */
export async function removeEmptyDay(
  { table, clock, ids }: EmptyDayParts,
  { tenant, day, lease, graceMs }: EmptyDay,
): Promise<boolean> {
  const key = workKey(tenant, day.day);
  const work = await table.get(key);
  const announced = work && { tenant, day: day.day, writtenMs: work.version };
  if (announced !== undefined && !mayBeRemoved(announced, clock.nowMs())) return false;
  const writes: Write[] = [
    fencedBy(lease),
    {
      kind: 'delete',
      key: dayKey(tenant, day.day),
      condition: { kind: 'version', version: day.version },
    },
    work === undefined
      ? { kind: 'check', key, condition: { kind: 'absent' } }
      : { kind: 'delete', key, condition: { kind: 'version', version: work.version } },
  ];
  const keys = indexKeysOf(tenant, day);
  if (keys.length > 0) {
    writes.push(garbageWrite(ids.randomHex(16), keys, clock.nowMs() + graceMs));
  }
  try {
    await table.transact(writes);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}
