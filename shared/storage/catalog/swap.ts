/**
 * Chunks of a day replaced by others, under the lease of the day and only if nobody else swapped since it was read.
 *
 * Three steps, because a query of the table may see a transaction in parts: DynamoDB applies its items one by one, in no
 * order that it tells, and shows each as soon as it is applied. One transaction for all of it would let a reader miss
 * entries: inputs gone already, outputs not there yet, and the day's item on one side of it both times. So:
 *
 *     day's version    V          V+1          V+2          V+3
 *                      |-- ///////// ----------|-- ////////// -->
 *                          1: outputs in       2   3: inputs out, their objects onto the list of garbage
 *
 * Step 1 and 3 are transactions and take a while (/); step 2 is a write of the day's item alone, a moment. Each is sent
 * when the one before has answered, over a distant table step 3 later still. A transaction answers when all of its items are applied: so outputs are there for
 * whoever reads V+2 or more, and an input goes only after that moment.
 *
 * A reader accepts what it read between two looks at the day's item that show one version. Whatever is applied when:
 *
 *     V     until step 1 is under way: no input has gone
 *     V+1   until step 2: no input has gone; outputs may be there, or some of them
 *     V+2   from step 2 on: all outputs are there; inputs may be there, or some of them
 *     V+3   the same, also where step 3 is not applied to its end
 *
 * Of many swaps: had a reader missed a chunk that step 3 of a swap took out, then the step 2 of that swap came before the
 * second look; the version was the same at the first look, so it came before that, too, and the outputs were there all
 * the time, unless a later swap took them out: the same again, with its outputs. Versions only rise, so this ends with
 * chunks that the reader saw. test/catalog/swap-orders.test.ts goes through the orders.
 *
 * Over a distant table a second look at the day's item would cost each query a round trip. So a swap rests for SWAP_REST_MS
 * between the answer of step 1 and the sending of step 3, and a query needs no versions: it accepts the chunks of a day if all
 * of them were read within READ_WINDOW_MS (day-reader.ts). All its reads then come before step 3 is sent, and see the inputs,
 * or all come after step 1 is answered, and see the outputs. Of many swaps: take the last one whose step 1 was answered before
 * the first read. Its outputs are seen, because the next swap that could take one of them out had not answered its step 1
 * when the first read was sent, so it rests until after the last one.
 *
 * Where both inputs and outputs are seen, also for good after a death in between, equal entries count once in queries,
 * and the next merge of them leaves one. A failure is never repaired by going on from what the table shows: that
 * the day has version V+1 does not tell that step 1 is applied; only its answer does. The swap is begun anew.
 */
import { invariant } from '../../base/model/errors.ts';
import { INVARIANTS, mustHold } from '../../base/model/invariants.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import {
  ConditionFailedError,
  MAX_TRANSACTION_ITEMS,
  type Table,
  type Write,
} from '../../base/ports/table.ts';
import { type ChunkRecord, encodeRecord, objectKey } from './chunk-record.ts';
import { type Day, encodeDay, type IndexRecord, indexKey } from './day-item.ts';
import { garbageWrite } from './garbage.ts';
import { chunkKey, dayKey } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';

/** Of a transaction: the check of the lease, the day, a list of garbage. */
const OTHER_ITEMS = 3;
/** Chunks that one swap removes: they fill the transaction of step 3. */
export const MAX_SWAPPED_CHUNKS = MAX_TRANSACTION_ITEMS - OTHER_ITEMS;
/** Chunks that one swap adds and updates, together: they fill the transaction of step 1. */
export const MAX_PUBLISHED_CHUNKS = MAX_TRANSACTION_ITEMS - OTHER_ITEMS;

/**
 * Time in which a query reads all chunks of a day, from before the first request to after the last response, ms. Four requests
 * take 5 to 20 ms; a process that is busy with other work handles their responses later.
 */
export const READ_WINDOW_MS = 250;
/** Twice as long, ms, so that clocks that run at different speeds do not matter. A merge waits for this long. */
export const SWAP_REST_MS = 2 * READ_WINDOW_MS;

export interface Swap {
  readonly tenant: string;
  /** As it was read before the inputs were. */
  readonly day: Day;
  readonly lease: Lease;
  readonly removed: readonly ChunkRecord[];
  readonly added: readonly ChunkRecord[];
  /**
   * New records of chunks whose objects stay as they are: the same id and last timestamp, which name the item. A reader
   * may see the old one until the swap has answered.
   */
  readonly updated?: readonly ChunkRecord[];
  /** The day's index from now on; undefined leaves it as it is. */
  readonly index?: IndexRecord;
  /** From when on the objects of what is removed may be deleted, ms from the last step. */
  readonly graceMs: number;
}

/**
 * The lease is lost, or the day was changed by somebody else. Nothing was removed. What was to be added may be in the
 * catalog all the same (after step 1), and then it is chunks as any others: their objects must stay.
 */
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

/**
 * Resolves to the day as it is now. Throws SwapConflictError, and RangeError where added and updated records are larger than
 * a transaction; after another error any first part of the steps may have happened. To try again, read the day anew.
 */
export async function swapChunks(parts: SwapParts, swap: Swap): Promise<Day> {
  const { tenant, day, removed, added, updated = [] } = swap;
  const published = added.length + updated.length;
  invariant(removed.length <= MAX_SWAPPED_CHUNKS, `a swap removes ${removed.length} chunks`);
  invariant(published <= MAX_PUBLISHED_CHUNKS, `a swap adds and updates ${published} chunks`);
  const isOfDay = [...removed, ...added, ...updated].every(
    record => record.tenant === tenant && record.day === day.day,
  );
  mustHold(INVARIANTS.swapKeepsEntries, isOfDay, `chunks of another day than ${tenant}/${day.day}`);
  // Nothing goes, so nobody can miss it: whoever reads after the answer reads all of it.
  if (removed.length === 0)
    return transact(parts, swap, withIndex(swap, day), [...puts(swap), ...garbage(parts, swap)]);
  // Nothing comes: what goes is what may go, at any moment.
  if (published === 0) return remove(parts, swap, day);
  return remove(parts, swap, await fence(parts, swap, await transact(parts, swap, day, puts(swap))));
}

/** Step 2. Without the lease: it changes nothing but the version, which whoever works on the day instead has changed. */
async function fence({ table }: SwapParts, { tenant }: Swap, day: Day): Promise<Day> {
  const next = { ...day, version: day.version + 1 };
  try {
    await table.put(encodeDay(tenant, next), { kind: 'version', version: day.version });
  } catch (error) {
    throw conflictOr(error, tenant, day, ['the day has changed']);
  }
  return next;
}

/**
 * Step 3. A new index comes here and not before: until the day names it, queries read the one before, whose object must
 * not be off the day's item and on no list. Either is true of the chunks in every step: an index says what the chunks
 * hold that it covers; those that it does not cover are read by their footers, those that are gone are not asked for.
 */
async function remove(parts: SwapParts, swap: Swap, day: Day): Promise<Day> {
  // Also if nothing was published here: what stands for the removed chunks may have been published just before.
  if (parts.table.isDistant === true) await parts.clock.sleep(SWAP_REST_MS);
  const deletes = swap.removed.map(
    (record): Write => ({ kind: 'delete', key: chunkKey(record), condition: { kind: 'present' } }),
  );
  return transact(parts, swap, withIndex(swap, day), [...deletes, ...garbage(parts, swap)]);
}

/** A transaction under the lease which raises the version of `day` by one. */
async function transact(
  { table }: SwapParts,
  { tenant, lease }: Swap,
  day: Day,
  writes: readonly Write[],
): Promise<Day> {
  const next = { ...day, version: day.version + 1 };
  const condition = { kind: 'version', version: day.version } as const;
  try {
    await table.transact([
      fencedBy(lease),
      { kind: 'put', item: encodeDay(tenant, next), condition },
      ...writes,
    ]);
  } catch (error) {
    throw conflictOr(error, tenant, day, ['the lease is lost', 'the day has changed']);
  }
  return next;
}

function withIndex({ index }: Swap, day: Day): Day {
  return index === undefined ? day : { ...day, index };
}

function puts({ added, updated = [] }: Swap): Write[] {
  const put = (record: ChunkRecord) =>
    ({ kind: 'put', item: { ...chunkKey(record), version: 0, body: encodeRecord(record) } }) as const;
  return [
    ...added.map(put),
    ...updated.map((record): Write => ({ ...put(record), condition: { kind: 'present' } })),
  ];
}

function garbage({ clock, ids }: SwapParts, { tenant, day, removed, index, graceMs }: Swap): Write[] {
  const keys = removed.filter(({ inline }) => inline === undefined).map(objectKey);
  if (index !== undefined && day.index !== undefined) keys.push(indexKey(tenant, day.day, day.index.id));
  return keys.length === 0 ? [] : [garbageWrite(ids.randomHex(16), keys, clock.nowMs() + graceMs)];
}

/** `reasons` by the place of the failed condition; beyond them stand chunks that must be there. */
function conflictOr(error: unknown, tenant: string, { day }: Day, reasons: readonly string[]): unknown {
  if (!(error instanceof ConditionFailedError)) return error;
  const what = reasons[error.index] ?? 'an input is gone';
  return new SwapConflictError(`${what}: ${dayKey(tenant, day).pk} ${day}`, { cause: error });
}
