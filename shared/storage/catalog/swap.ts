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
 * If more chunks go than fit one transaction, step 3 is several, one after the other. What holds of V+2 holds of every version
 * after it.
 *
 * Two writers change the day's item without the lease of the day, and neither takes a chunk out: a push that needs more partitions,
 * and index sync (syncer.ts). Each raises the version by one and changes what it is about. A swap that finds exactly that goes on with
 * the new item; any other change ends it.
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
  MAX_TRANSACTION_BYTES,
  MAX_TRANSACTION_ITEMS,
  type Table,
  type Write,
} from '../../base/ports/table.ts';
import { type ChunkRecord, encodeRecord, objectKey } from './chunk-record.ts';
import { type Day, decodeDay, encodeDay, type IndexRecord, indexKey } from './day-item.ts';
import { garbageWrite } from './garbage.ts';
import { chunkKey, dayKey } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';

/** Of a transaction: the check of the lease, the day, a list of garbage. */
const OTHER_ITEMS = 3;
/** Chunks that one transaction of step 3 removes: they fill it. Inputs of one merge, too. */
export const MAX_SWAPPED_CHUNKS = MAX_TRANSACTION_ITEMS - OTHER_ITEMS;
/** Chunks that one swap removes, in 10 transactions of up to 50 ms: the outputs of many merges are published by one swap. */
export const MAX_REMOVED_CHUNKS = 10 * MAX_SWAPPED_CHUNKS;
/** Chunks that one swap adds and updates, together: they fill the transaction of step 1. */
export const MAX_PUBLISHED_CHUNKS = MAX_TRANSACTION_ITEMS - OTHER_ITEMS;
/** Maximum bytes of the records that one swap publishes. Keys and the item of the day come on top. */
export const MAX_PUBLISHED_BYTES = MAX_TRANSACTION_BYTES / 2;

/**
 * Time in which a query reads all chunks of a day, from before the first request to after the last response, ms. Four requests
 * take 5 to 20 ms; a process that is busy with other work handles their responses later.
 */
export const READ_WINDOW_MS = 250;
/** Twice as long, ms, so that clocks that run at different speeds do not matter. A merge waits for this long. */
export const SWAP_REST_MS = 2 * READ_WINDOW_MS;
/** Changes of the day's item that come in between, in a row. A swap raises the version a few times a second at most. */
const MAX_ITEM_CHANGES = 10;

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
  invariant(removed.length <= MAX_REMOVED_CHUNKS, `a swap removes ${removed.length} chunks`);
  invariant(published <= MAX_PUBLISHED_CHUNKS, `a swap adds and updates ${published} chunks`);
  const isOfDay = [...removed, ...added, ...updated].every(
    record => record.tenant === tenant && record.day === day.day,
  );
  mustHold(INVARIANTS.swapKeepsEntries, isOfDay, `chunks of another day than ${tenant}/${day.day}`);
  // Nothing goes, so nobody can miss it: whoever reads after the answer reads all of it.
  if (removed.length === 0)
    return transact(parts, swap, day, now => [...puts(swap), ...garbage(parts, swap, [], now)], swap.index);
  // Nothing comes: what goes is what may go, at any moment.
  if (published === 0) return remove(parts, swap, day);
  return remove(parts, swap, await fence(parts, swap, await transact(parts, swap, day, () => puts(swap))));
}

/** Step 2. Without the lease: it changes nothing but the version, which whoever works on the day instead has changed. */
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
 * Step 3. A new index comes here and not before: until the day names it, queries read the one before, whose object must
 * not be off the day's item and on no list. Either is true of the chunks in every step: an index says what the chunks
 * hold that it covers; those that it does not cover are read by their footers, those that are gone are not asked for.
 */
async function remove(parts: SwapParts, swap: Swap, day: Day): Promise<Day> {
  // Also if nothing was published here: what stands for the removed chunks may have been published just before.
  if (parts.table.isDistant === true) await parts.clock.sleep(SWAP_REST_MS);
  let now = day;
  for (let from = 0; from < swap.removed.length; from += MAX_SWAPPED_CHUNKS) {
    const some = swap.removed.slice(from, from + MAX_SWAPPED_CHUNKS);
    const isLast = from + some.length === swap.removed.length;
    const index = isLast ? swap.index : undefined;
    const deletes = some.map(
      (record): Write => ({ kind: 'delete', key: chunkKey(record), condition: { kind: 'present' } }),
    );
    const writes = (before: Day) => [...deletes, ...garbage(parts, swap, some, isLast ? before : undefined)];
    now = await transact(parts, swap, now, writes, index);
  }
  return now;
}

/** A transaction under the lease which raises the version of `day` by one. @param writes what goes with it, by the day before it */
function transact(
  { table }: SwapParts,
  { tenant, lease, removed, added, updated = [] }: Swap,
  day: Day,
  writes: (before: Day) => readonly Write[],
  index?: IndexRecord,
): Promise<Day> {
  const reasons = ['the lease is lost', 'the day has changed'];
  // An index is right whatever chunks came and went since.
  const mayGoOn = removed.length + added.length + updated.length === 0 ? keepsIndex : keepsChunks;
  return changing({ table, tenant, day, reasons, mayGoOn }, async now => {
    const next = { ...now, version: now.version + 1, index: index ?? now.index };
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
  /** By the place of the failed condition; the last one is that of the day, and beyond it stand chunks that must be there. */
  readonly reasons: readonly string[];
  /** Whether what happened to the day meanwhile leaves the write as right as it was. */
  mayGoOn(before: Day, after: Day): boolean;
}

/** Does `write` on condition of the day's item. Throws SwapConflictError. */
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
  return before.index?.id === after.index?.id;
}

/** True if all that happened to the day's item is a new index, or more partitions, or both: then no chunk went. */
function keepsChunks(before: Day, after: Day): boolean {
  const indexes = keepsIndex(before, after) ? 0 : 1;
  const raises = before.partitions === after.partitions ? 0 : 1;
  return indexes + raises > 0 && after.version === before.version + indexes + raises;
}

function puts({ added, updated = [] }: Swap): Write[] {
  const put = (record: ChunkRecord) =>
    ({ kind: 'put', item: { ...chunkKey(record), version: 0, body: encodeRecord(record) } }) as const;
  return [
    ...added.map(put),
    ...updated.map((record): Write => ({ ...put(record), condition: { kind: 'present' } })),
  ];
}

/** @param before the day whose index is replaced here; undefined if none is */
function garbage(
  { clock, ids }: SwapParts,
  { tenant, index, graceMs }: Swap,
  removed: readonly ChunkRecord[],
  before: Day | undefined,
): Write[] {
  const keys = removed.filter(({ inline }) => inline === undefined).map(objectKey);
  if (index !== undefined && before?.index !== undefined)
    keys.push(indexKey(tenant, before.day, before.index.id));
  return keys.length === 0 ? [] : [garbageWrite(ids.randomHex(16), keys, clock.nowMs() + graceMs)];
}
