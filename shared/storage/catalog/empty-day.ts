/**
 * A day without chunks taken out of the catalog, its index with it. It happens only where no process trusts in having announced
 * the day (outstanding.ts): a chunk that such a process commits afterwards would be in no day that queries look at.
 *
 *     announcement            reads the day's item, then: check it is there, put the item of outstanding work, put chunks
 *     removal                 reads the work item, then: delete the day's item, and the work item on condition
 *
 * Whichever transaction comes second finds its condition broken: the day's item gone, or the work item there.
 */
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import { type Day, indexKey } from './day-item.ts';
import { garbageWrite } from './garbage.ts';
import { dayKey, workKey } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';
import { mayBeRemoved } from './outstanding.ts';

export interface EmptyDay {
  readonly tenant: string;
  /** As it was read before its chunks, of which there were none. */
  readonly day: Day;
  readonly lease: Lease;
  /** From when on the index may be deleted, ms from now. */
  readonly graceMs: number;
}

export interface EmptyDayParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** False where it must stay for now. */
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
  if (day.index !== undefined) {
    const keys = [indexKey(tenant, day.day, day.index.id)];
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
