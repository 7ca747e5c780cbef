/**
 * Merges the chunks of a day in the plainest way: entries as objects, all into one chunk. It is what the swap of the
 * catalog is tried with, independent of the engine that compacts; leases, renewal and fencing are used as they must be.
 */

import { NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import { ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import { newStatistics } from '../../../shared/read/query/statistics.ts';
import { newChunkId } from '../../../shared/storage/catalog/chunk-id.ts';
import { storeChunk } from '../../../shared/storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { writeChunk } from '../../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { dropNothing, marksOf, type RowDrops } from '../../../shared/upkeep/compaction/row-drops.ts';
import { entriesOfPage, type PlainEntry, rowsOf, streamOf } from '../../support/rows.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';
import type { Dice } from '../dice.ts';

/** Short against the pauses of a run, so that leases are lost. */
const LEASE_MS = 2_000;

export const mergeDay: SimulatedActor = {
  name: 'merge day',
  weight: 3,
  // A lost lease and a day that changed in the meantime are ordinary ends of a step; so is a day that changes
  // too fast.
  tolerates: ['SwapConflictError'],

  async step({ process, dice, tenants, days, graceMs }: ActorContext): Promise<void> {
    const { catalog, clock, ids, store, drops: source } = process;
    const tenant = dice.pick(tenants);
    const written = await catalog.days(tenant, days[0], days[days.length - 1]);
    if (written.length === 0) return;
    const { day } = dice.pick(written);
    const lease = await catalog.leases.take(`day/${tenant}/${day}`, LEASE_MS);
    if (lease === undefined) return;
    try {
      const snapshot = await catalog.day(tenant, day);
      const inputs = dice.chance(0.5) ? (snapshot?.records ?? []) : someOf(snapshot?.records ?? [], dice);
      if (snapshot === undefined || inputs.length < 2) return;
      const drops = (await source?.dropsOf(tenant)) ?? dropNothing(clock);
      const entries = await entriesOf(store, inputs, drops);
      const head = { id: newChunkId(clock, ids), tenant, day, level: 1, createdMs: drops.asOfMs };
      const inputIds = inputs.map(({ id }) => id);
      const added: ChunkRecord[] = [];
      if (entries.length > 0) {
        const chunk = await writeChunk({ ...head, inputs: inputIds }, rowsOf(entries), QUICK_COMPRESSION);
        added.push(await storeChunk(store, chunk, dice.chance(0.3) ? 4096 : 0));
      }
      const { records: _, ...withoutRecords } = snapshot;
      await catalog.swap({ tenant, day: withoutRecords, lease, removed: inputs, added, graceMs });
    } finally {
      await catalog.leases.release(lease).catch(() => undefined);
    }
  },
};

function someOf(records: readonly ChunkRecord[], dice: Dice): ChunkRecord[] {
  return records.filter(() => dice.chance(0.7));
}

/** The entries of some chunks that need not go, each once. */
export async function entriesOf(
  store: ObjectStore,
  records: readonly ChunkRecord[],
  drops?: RowDrops,
): Promise<PlainEntry[]> {
  const source = new ChunkSource(store);
  const entries = new Map<string, PlainEntry>();
  for (const record of records) {
    const footer = await source.footer(record);
    const deleteFilter = drops?.of(record);
    for (const page of footer.pages) {
      const wants = { lines: 'bytes', metadata: 'all' } as const;
      const rows = await source.page(record, footer, page, wants, newStatistics());
      const marks = deleteFilter && marksOf(deleteFilter, rows);
      for (const [row, entry] of entriesOfPage(rows, BigInt(record.day) * NS_PER_DAY).entries()) {
        if (marks?.[row] === 1) continue;
        const { stream, time, line, metadata } = entry;
        entries.set(
          JSON.stringify([streamOf(stream).text, time, line, Object.entries(metadata).sort()]),
          entry,
        );
      }
    }
  }
  return [...entries.values()];
}
