/**
 * Chunks of a day replaced by others, all at once: inputs out, outputs in, the day's version up, the old objects on the
 * list of garbage. It happens only while the lease is held and nobody else swapped since the day was read.
 */
import { invariant } from '../model/errors.ts';
import { INVARIANTS, mustHold } from '../model/invariants.ts';
import type { Clock, Ids } from '../ports/clock.ts';
import { ConditionFailedError, MAX_TRANSACTION_ITEMS, type Table, type Write } from '../ports/table.ts';
import { type ChunkRecord, encodeRecord, objectKey } from './chunk-record.ts';
import { type Day, encodeDay, type IndexRecord, indexKey } from './day-item.ts';
import { garbageWrite } from './garbage.ts';
import { chunkKey, dayKey } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';

/** Leaves room for outputs, day, lease and garbage in one transaction. */
export const MAX_SWAPPED_CHUNKS = 80;
const MAX_ADDED_CHUNKS = MAX_TRANSACTION_ITEMS - MAX_SWAPPED_CHUNKS - 3;

export interface Swap {
  readonly tenant: string;
  /** As it was read before the inputs were. */
  readonly day: Day;
  readonly lease: Lease;
  readonly removed: readonly ChunkRecord[];
  readonly added: readonly ChunkRecord[];
  /** The day's index from now on; undefined leaves it as it is. */
  readonly index?: IndexRecord;
  /** From when on the objects of what is removed may be deleted, ms from now. */
  readonly graceMs: number;
}

/** The lease is lost, or the day was changed by somebody else: nothing happened. */
export class SwapConflictError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'SwapConflictError';
  }
}

export interface SwapParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Resolves to the day as it is now. Throws SwapConflictError; after another error it may have happened or not. */
export async function swapChunks({ table, clock, ids }: SwapParts, swap: Swap): Promise<Day> {
  const { tenant, day, lease, removed, added, index, graceMs } = swap;
  invariant(removed.length <= MAX_SWAPPED_CHUNKS, `a swap removes ${removed.length} chunks`);
  invariant(added.length <= MAX_ADDED_CHUNKS, `a swap adds ${added.length} chunks`);
  const isOfDay = [...removed, ...added].every(record => record.tenant === tenant && record.day === day.day);
  mustHold(INVARIANTS.swapKeepsEntries, isOfDay, `chunks of another day than ${tenant}/${day.day}`);
  const next: Day = { day: day.day, version: day.version + 1, index: index ?? day.index };
  const garbage = removed
    .filter(({ inline }) => inline === undefined)
    .map(record => objectKey(record.tenant, record.day, record.level, record.id));
  if (index !== undefined && day.index !== undefined) garbage.push(indexKey(tenant, day.day, day.index.id));
  const writes: Write[] = [
    fencedBy(lease),
    {
      kind: 'put',
      item: encodeDay(tenant, next),
      condition: { kind: 'version', version: day.version },
    },
    ...removed.map(
      (record): Write => ({ kind: 'delete', key: chunkKey(record), condition: { kind: 'present' } }),
    ),
    ...added.map(
      (record): Write => ({
        kind: 'put',
        item: { ...chunkKey(record), version: 0, body: encodeRecord(record) },
      }),
    ),
  ];
  if (garbage.length > 0) {
    writes.push(garbageWrite(ids.randomHex(16), garbage, clock.nowMs() + graceMs));
  }
  try {
    await table.transact(writes);
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
    const what = ['the lease is lost', 'the day has changed'][error.index] ?? 'an input is gone';
    throw new SwapConflictError(`${what}: ${dayKey(tenant, day.day).pk} ${day.day}`, { cause: error });
  }
  return next;
}
