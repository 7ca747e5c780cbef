/**
 * Replaces chunks of a day by others, under the lease of the day and only if no other swap happened since it was read.
 *
 * A swap has three steps, because a query may see a transaction in parts. DynamoDB applies its items one by one, in an
 * unspecified order, and shows each as soon as it is applied. A single transaction would let a reader miss entries: it
 * could find the inputs deleted, the outputs not there yet, and the day's item unchanged both times. So:
 *
 *     day's version    V          V+1          V+2          V+3
 *                      |-- ///////// ----------|-- ////////// -->
 *                          1: outputs in       2   3: inputs out, their objects onto the garbage list
 *
 * Steps 1 and 3 are transactions and need some time (/). Step 2 writes only the day's item, in an instant. Each step is
 * sent after the response to the previous one; over a distant table, step 3 is sent later still. A transaction responds
 * when all of its items are applied. So the outputs are visible to every reader of V+2 or more, and an input is deleted
 * only after that moment.
 *
 * A reader accepts what it read between two reads of the day's item that return the same version. In any order of
 * application:
 *
 *     V     until step 1 is in progress: no input is deleted
 *     V+1   until step 2: no input is deleted; outputs may be there, or some of them
 *     V+2   from step 2 on: all outputs are there; inputs may be there, or some of them
 *     V+3   the same, also if step 3 is not completely applied
 *
 * If more chunks are removed than fit one transaction, step 3 is several transactions, one after the other. The
 * statement about V+2 holds for every later version.
 *
 * Two writers change the day's item without the lease of the day, and neither removes a chunk: a push that needs more
 * partitions, and index sync (syncer.ts). Each raises the version by one and changes only its own field. A swap that
 * finds exactly such a change continues with the new item. Any other change ends it.
 *
 * Proof for many swaps: assume that a reader missed a chunk that step 3 of a swap removed. Then step 2 of that swap
 * came before the second read of the item. The first read returned the same version, so step 2 came before that, too.
 * The outputs were therefore there all the time, unless a later swap removed them. Then the same argument applies to
 * its outputs. Versions only rise, so this ends with chunks that the reader saw. test/catalog/swap-orders.test.ts
 * checks the orders.
 *
 * Over a distant table, a second read of the day's item would cost each query a round trip. So a swap waits for
 * SWAP_REST_MS between the response to step 1 and the sending of step 3, and a query needs no versions. It accepts the
 * chunks of a day if all of them were read within READ_WINDOW_MS (day-reader.ts). Then either all its reads come before
 * step 3 is sent, and see the inputs. Or all come after the response to step 1, and see the outputs.
 *
 * Proof for many swaps: take the last swap whose step 1 was answered before the first read. Its outputs are seen. The
 * next swap that could remove one of them had no response to its step 1 when the first read was sent. So that swap
 * waits until after the last read.
 *
 * A reader may see both inputs and outputs, also permanently after a crash between the steps. Equal entries then count
 * once in queries, and the next merge of them keeps one.
 *
 * Pitfall: never continue a failed swap from what the table shows. Version V+1 of the day does not prove that step 1 is
 * applied; only the response to step 1 does. Start the swap again.
 */
import { invariant } from '../../base/model/errors.ts';
import { INVARIANTS, mustHold } from '../../base/model/invariants.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import {
  ConditionFailedError,
  type ItemKey,
  MAX_TRANSACTION_BYTES,
  MAX_TRANSACTION_ITEMS,
  type Table,
  type Write,
} from '../../base/ports/table.ts';
import { type ChunkRecord, encodeRecord, objectKey } from './chunk-record.ts';
import { type Day, decodeDay, encodeDay, type IndexRecord, indexKeysOf } from './day-item.ts';
import { garbageWrite } from './garbage.ts';
import { chunkKey, dayKey } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';
import { markerKey } from './unmerged-chunks.ts';

/** Other items of a transaction: the check of the lease, the day, a garbage list. */
const OTHER_ITEMS = 3;
/** Maximum number of chunks that one transaction of step 3 removes, which fill it. Also the maximum inputs of one merge. */
export const MAX_SWAPPED_CHUNKS = MAX_TRANSACTION_ITEMS - OTHER_ITEMS;
/** Chunks that one swap removes, in 10 transactions of up to 50 ms. One swap publishes the outputs of many merges. */
export const MAX_REMOVED_CHUNKS = 10 * MAX_SWAPPED_CHUNKS;
/** Chunks that one swap adds and updates, together. They fill the transaction of step 1. */
export const MAX_PUBLISHED_CHUNKS = MAX_TRANSACTION_ITEMS - OTHER_ITEMS;
/** Maximum bytes of the records that one swap publishes, without keys and the item of the day. */
export const MAX_PUBLISHED_BYTES = MAX_TRANSACTION_BYTES / 2;

/**
 * Time in which a query reads all chunks of a day, from before the first request to after the last response, ms. Four
 * requests take 5 to 20 ms. A process that is busy with other work handles their responses later.
 */
export const READ_WINDOW_MS = 250;
/**
 * Wait of a swap before step 3, ms. Twice the read window, so that clocks that run at different speeds do not matter.
 */
export const SWAP_REST_MS = 2 * READ_WINDOW_MS;
/**
 * Consecutive changes of the day's item that a swap tolerates. A swap raises the version at most a few times a second.
 */
const MAX_ITEM_CHANGES = 10;

export interface Swap {
  readonly tenant: string;
  /** The day as read before the inputs. */
  readonly day: Day;
  readonly lease: Lease;
  readonly removed: readonly ChunkRecord[];
  readonly added: readonly ChunkRecord[];
  /**
   * New records of chunks whose objects stay unchanged. ID and last timestamp, which name the item, are the same. A
   * reader may see the old record until the swap has returned.
   */
  readonly updated?: readonly ChunkRecord[];
  /** New indexes of the day; undefined keeps the current ones. */
  readonly indexes?: readonly IndexRecord[];
  /** Time from the last step after which the objects of removed chunks may be deleted, ms. */
  readonly graceMs: number;
}

/**
 * The lease is lost, or another process changed the day. Nothing was removed. After step 1, the chunks to
 * add are in the catalog nevertheless. They are then chunks like any others, and their objects must stay.
 */
export class SwapConflictError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'SwapConflictError';
  }
}

interface SwapParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Resolves to the current day. Throws SwapConflictError, and RangeError if added and updated records are larger than a
 * transaction. After another error, any number of the first steps may have happened. To retry, read the day again.
 */
export async function swapChunks(parts: SwapParts, swap: Swap): Promise<Day> {
  const { tenant, day, removed, added, updated = [] } = swap;
  const published = added.length + updated.length;
  invariant(removed.length <= MAX_REMOVED_CHUNKS, `a swap removes ${removed.length} chunks`);
  invariant(published <= MAX_PUBLISHED_CHUNKS, `a swap adds and updates ${published} chunks`);
  const isOfDay = [...removed, ...added, ...updated].every(
    record => record.tenant === tenant && record.day === day.day,
  );
  mustHold(INVARIANTS.swapKeepsEntries, isOfDay, `chunks of another day than ${tenant}/${day.day}`);
  // Skips the other steps: no chunk is removed, so no reader can miss one, and later readers see all additions.
  if (removed.length === 0)
    return transact(parts, swap, day, now => [...puts(swap), ...garbage(parts, swap, [], now)], swap.indexes);
  // Skips the other steps: nothing is published, and the removed chunks may disappear at any moment.
  if (published === 0) return remove(parts, swap, day);
  return remove(parts, swap, await fence(parts, swap, await transact(parts, swap, day, () => puts(swap))));
}

/** Step 2. It needs no lease: it changes only the version, which any other worker on the day has changed as well. */
function fence({ table }: SwapParts, { tenant }: Swap, day: Day): Promise<Day> {
  return changing(
    { table, tenant, day, reasons: ['the day has changed'], mayGoOn: keepsChunks },
    async now => {
      const next = { ...now, version: now.version + 1 };
      await table.put(encodeDay(tenant, next), { kind: 'version', version: now.version });
      return next;
    },
  );
}

/**
 * Step 3. A new index is published here and not before. Until the day names it, queries read the previous one, whose
 * object must be either in the day's item or on a garbage list. In every step, both indexes are right about the chunks
 * that they cover. Queries read other chunks by their footers, and ignore index data of removed chunks.
 */
async function remove(parts: SwapParts, swap: Swap, day: Day): Promise<Day> {
  // Waits also if nothing was published here: replacements of the removed chunks may have been published just before.
  if (parts.table.isDistant === true) await parts.clock.sleep(SWAP_REST_MS);
  let now = day;
  for (let from = 0; from < swap.removed.length; ) {
    const some = fitting(parts.table, swap.removed.slice(from, from + MAX_SWAPPED_CHUNKS));
    from += some.length;
    const isLast = from === swap.removed.length;
    const indexes = isLast ? swap.indexes : undefined;
    // Conditions come first, because their position shows what failed.
    const deletes = [
      ...some.map(
        record => ({ kind: 'delete', key: chunkKey(record), condition: { kind: 'present' } }) as const,
      ),
      ...markersOf(parts.table, some).map(key => ({ kind: 'delete', key }) as const),
    ];
    const writes = (before: Day) => [...deletes, ...garbage(parts, swap, some, isLast ? before : undefined)];
    now = await transact(parts, swap, now, writes, indexes);
  }
  return now;
}

/** Chunks from the start that one transaction removes together with their markers. */
function fitting(table: Table, records: readonly ChunkRecord[]): readonly ChunkRecord[] {
  let some = records;
  while (some.length + markersOf(table, some).length > MAX_SWAPPED_CHUNKS) some = some.slice(0, -1);
  return some;
}

/** Only a shared table has markers (unmerged-chunks.ts). */
function markersOf({ isDistant }: Table, records: readonly ChunkRecord[]): ItemKey[] {
  return isDistant === true ? records.map(markerKey).filter(key => key !== undefined) : [];
}

/**
 * Runs a transaction under the lease that raises the version of `day` by one. @param writes other writes, given the day
 * before it
 */
function transact(
  { table }: SwapParts,
  { tenant, lease, removed, added, updated = [] }: Swap,
  day: Day,
  writes: (before: Day) => readonly Write[],
  indexes?: readonly IndexRecord[],
): Promise<Day> {
  const reasons = ['the lease is lost', 'the day has changed'];
  // Tolerates chunk changes for an index alone, because an index stays right whatever chunks were added or removed
  // since.
  const mayGoOn = removed.length + added.length + updated.length === 0 ? keepsIndex : keepsChunks;
  return changing({ table, tenant, day, reasons, mayGoOn }, async now => {
    const next = { ...now, version: now.version + 1, indexes: indexes ?? now.indexes };
    const condition = { kind: 'version', version: now.version } as const;
    await table.transact([
      fencedBy(lease),
      { kind: 'put', item: encodeDay(tenant, next), condition },
      ...writes(now),
    ]);
    return next;
  });
}

interface DayChange {
  readonly table: Table;
  readonly tenant: string;
  readonly day: Day;
  /**
   * Reasons by position of the failed condition. The last one is that of the day; positions after it are chunks that
   * must exist.
   */
  readonly reasons: readonly string[];
  /** True if the change of the day in the meantime leaves the write valid. */
  mayGoOn(before: Day, after: Day): boolean;
}

/** Runs `write` conditional on the day's item. Throws SwapConflictError. */
async function changing(
  { table, tenant, day, reasons, mayGoOn }: DayChange,
  write: (now: Day) => Promise<Day>,
): Promise<Day> {
  for (let [now, changes] = [day, 0]; ; changes++) {
    try {
      return await write(now);
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      const isOfDay = error.index === reasons.length - 1;
      const found =
        isOfDay && changes < MAX_ITEM_CHANGES ? await table.get(dayKey(tenant, day.day)) : undefined;
      const after = found && decodeDay(found);
      if (after === undefined || !mayGoOn(now, after)) {
        const what = reasons[error.index] ?? 'an input is gone';
        throw new SwapConflictError(`${what}: ${dayKey(tenant, day.day).pk} ${day.day}`, { cause: error });
      }
      now = after;
    }
  }
}

function keepsIndex(before: Day, after: Day): boolean {
  return (
    before.indexes.length === after.indexes.length &&
    before.indexes.every(({ id }, i) => id === after.indexes[i].id)
  );
}

/** True if the day's item changed only by a new index or more partitions or both, so that no chunk was removed. */
function keepsChunks(before: Day, after: Day): boolean {
  const indexes = keepsIndex(before, after) ? 0 : 1;
  const raises = before.partitions === after.partitions ? 0 : 1;
  return indexes + raises > 0 && after.version === before.version + indexes + raises;
}

/**
 * Records as a swap adds them to the day: in partitions that every reader of the day reads, also one that does not know
 * of new ones.
 */
export function asAddedTo({ isCommon }: Pick<Day, 'isCommon'>, added: readonly ChunkRecord[]): ChunkRecord[] {
  const partitions = isCommon === true ? 1 : undefined;
  return added.map(record => (record.partitions === partitions ? record : { ...record, partitions }));
}

function puts({ day, added, updated = [] }: Swap): Write[] {
  const put = (record: ChunkRecord) =>
    ({ kind: 'put', item: { ...chunkKey(record), version: 0, body: encodeRecord(record) } }) as const;
  return [
    ...asAddedTo(day, added).map(put),
    ...updated.map((record): Write => ({ ...put(record), condition: { kind: 'present' } })),
  ];
}

/** @param before the day whose indexes are replaced; undefined if none are */
function garbage(
  { clock, ids }: SwapParts,
  { tenant, indexes, graceMs }: Swap,
  removed: readonly ChunkRecord[],
  before: Day | undefined,
): Write[] {
  const keys = removed.filter(({ inline }) => inline === undefined).map(objectKey);
  if (indexes !== undefined && before !== undefined) {
    const kept = new Set(indexKeysOf(tenant, { day: before.day, indexes }));
    keys.push(...indexKeysOf(tenant, before).filter(key => !kept.has(key)));
  }
  return keys.length === 0 ? [] : [garbageWrite(ids.randomHex(16), keys, clock.nowMs() + graceMs)];
}
