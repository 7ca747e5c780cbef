/**
 * The chunks of a tenant under another name, day by day and a few at a time:
 *
 *     objects copied -> records of the new tenant -> records of the old one taken away, their objects put on the list of garbage
 *
 * A kill at any arrow loses nothing: before the last one the entries are in both tenants for a while, and the next run does
 * the same again with the same names. Both days are leased, so that neither compaction nor the walk for orphans takes what
 * has no record yet. Indexes are not moved: maintenance makes new ones.
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

/** Entries are in both tenants no longer than it takes to copy these; a swap takes 97. */
const CHUNKS_AT_ONCE = 16;
/** A compacted object is 128 MiB and takes seconds; the lease is renewed before each. */
const LEASE_MS = 120_000;

/** Throws what the stores throw, CorruptionError, LeaseLostError, and MoveRefusedError where somebody works on a day. */
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
  throw new MoveRefusedError(`another process works on day ${day} of ${tenant}; stop it, or retry later`);
}

interface DayHold {
  /** Of the old tenant's day. */
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
      // Live tails have seen them, under the old name.
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
    // Where a process may still trust in having announced the day it stays, empty, until maintenance takes it away.
    await catalog.removeEmptyDay({ tenant: from, day, lease: this.#held.lease, graceMs });
  }

  /** The record of the same chunk in the new tenant; its object is durable. */
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
    // A run before this one put it there, perhaps a program whose footers have other lengths.
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
