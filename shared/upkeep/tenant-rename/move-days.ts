/**
 * Copies the chunks of a tenant to another name, day by day and a few at a time:
 *
 *     copy objects -> add records of the new tenant -> remove records of the old one and put its objects on the list of garbage
 *
 * A kill at any arrow loses nothing: before the last step the entries are in both tenants for a while, and
 * the next run repeats the steps with the same names. Both days are leased, so that neither compaction nor
 * the orphan walk removes objects without a record. Indexes are not copied, because maintenance writes new
 * ones.
 */

import { keyOfChunk, nameOfChunk } from '../../storage/catalog/chunk-object.ts';
import { type ChunkRecord, RECORD_FOOTER_BYTES } from '../../storage/catalog/chunk-record.ts';
import type { Day } from '../../storage/catalog/day-item.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { dayLease, type Lease } from '../../storage/catalog/leases.ts';
import { footerLength } from '../../storage/chunk/footer-codec.ts';
import { TRAILER_BYTES } from '../../storage/chunk/format.ts';
import { renameTenant } from '../../storage/chunk/rename-tenant.ts';
import { type Move, type MoveParts, MoveRefusedError } from './move-parts.ts';

/** Bounds the time for which entries are in both tenants. A swap accepts 97. */
const CHUNKS_AT_ONCE = 16;
/** Copying a compacted object of 128 MiB takes seconds. The lease is renewed before each. */
const LEASE_MS = 120_000;

/**
 * Throws the errors of the stores, CorruptionError, LeaseLostError, and MoveRefusedError if another process
 * works on a day.
 */
export async function moveDays(parts: MoveParts, move: Move): Promise<void> {
  for (const { day } of await parts.catalog.allDays(move.from)) await moveDay(parts, move, day);
}

async function moveDay(parts: MoveParts, move: Move, day: number): Promise<void> {
  const { leases } = parts.catalog;
  const held: Lease[] = [];
  try {
    for (const tenant of [move.from, move.to]) held.push(await takeLease(parts, tenant, day));
    const holders = held.map(lease => leases.holder(lease, LEASE_MS));
    const hold = async () => {
      await move.hold();
      for (const holder of holders) await holder();
    };
    await new DayMove(parts, move, { lease: held[0], hold }).run(day);
  } finally {
    for (const lease of held) await leases.release(lease).catch(() => undefined);
  }
}

async function takeLease({ catalog }: MoveParts, tenant: string, day: number): Promise<Lease> {
  const lease = await catalog.leases.takePatiently(dayLease(tenant, day), LEASE_MS);
  if (lease !== undefined) return lease;
  throw new MoveRefusedError(
    `another process is working on day ${day} of tenant ${tenant}; stop it, or retry later`,
  );
}

interface DayHold {
  /** Lease of the old tenant's day. */
  readonly lease: Lease;
  readonly hold: () => Promise<void>;
}

class DayMove {
  readonly #parts: MoveParts;
  readonly #move: Move;
  readonly #held: DayHold;

  constructor(parts: MoveParts, move: Move, held: DayHold) {
    this.#parts = parts;
    this.#move = move;
    this.#held = held;
  }

  async run(number: number): Promise<void> {
    const { catalog } = this.#parts;
    const { from, graceMs, totals, progress } = this.#move;
    const snapshot = await catalog.day(from, number);
    if (snapshot === undefined) return;
    const { records } = snapshot;
    let day: Day = dayOf(snapshot);
    for (let i = 0; i < records.length; i += CHUNKS_AT_ONCE) {
      const batch = records.slice(i, i + CHUNKS_AT_ONCE);
      const moved: ChunkRecord[] = [];
      for (const record of batch) moved.push(await this.#copy(record));
      await this.#held.hold();
      // Live tails have already delivered them under the old name.
      await catalog.addChunks(moved, { known: true });
      day = await catalog.swap({
        tenant: from,
        day,
        lease: this.#held.lease,
        removed: batch,
        added: [],
        graceMs,
      });
      totals.chunks += batch.length;
      for (const { rows } of batch) totals.rows += rows;
      progress?.(totals);
    }
    totals.days++;
    // If a process may still rely on its announcement of the day, the empty day stays until maintenance
    // removes it.
    await catalog.removeEmptyDay({ tenant: from, day, lease: this.#held.lease, graceMs });
  }

  /** Creates the record of the same chunk in the new tenant. Its object is durable. */
  async #copy(record: ChunkRecord): Promise<ChunkRecord> {
    await this.#held.hold();
    const { store } = this.#parts;
    const { to, totals } = this.#move;
    const what = nameOfChunk(record);
    if (record.inline !== undefined) {
      const { object, footerBytes } = renameTenant(record.inline, to, what);
      totals.inlineChunks++;
      return { ...record, tenant: to, inline: object, storedBytes: object.length, footerBytes };
    }
    const { object } = renameTenant(await store.get(keyOfChunk(record)), to, what);
    const key = keyOfChunk({ ...record, tenant: to });
    const isNew = await store.putIfAbsent(key, object);
    totals.copiedBytes += object.length;
    // An earlier run created the object, possibly with a version that writes footers of other lengths.
    return recordOfObject(record, to, isNew ? object : await store.get(key));
  }
}

function dayOf({ records: _, ...day }: DaySnapshot): Day {
  return day;
}

function recordOfObject(record: ChunkRecord, tenant: string, object: Buffer): ChunkRecord {
  const trailer = object.subarray(object.length - TRAILER_BYTES);
  const footerBytes =
    footerLength(trailer, object.length, nameOfChunk({ ...record, tenant })) + TRAILER_BYTES;
  const footer =
    footerBytes <= RECORD_FOOTER_BYTES ? object.subarray(object.length - footerBytes) : undefined;
  return { ...record, tenant, storedBytes: object.length, footerBytes, footer };
}
