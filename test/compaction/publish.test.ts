/** Outputs of a merge, as the same run merges them again without reading the day. */
import { describe, expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { publish } from '../../shared/upkeep/compaction/merge-and-swap.ts';
import { DAY, record } from '../catalog/records.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';

const COPIED = { pages: 0, rows: 0, bytes: 0 };

/** Replaces the chunks by one of the same rows. */
const mergeOf = (inputs: readonly ChunkRecord[], number: number) => ({
  inputs,
  added: [record(number, { level: inputs[0].level + 1, rows: inputs.length })],
  duplicates: inputs.reduce((sum, { rows }) => sum + rows, 0) - inputs.length,
  dropped: 0,
  mayDrop: false,
  copied: COPIED,
  encoded: COPIED,
});

describe.each([1, 4, 16])('a day that began with %d partitions', partitions => {
  test('merges the output of a merge in the same run', async () => {
    // A swap in a distant table sleeps between its steps.
    const clock = { ...manualClock(), sleep: async () => {} };
    const table = { ...memoryTable({ clock }), isDistant: true };
    const catalog = new Catalog({ table, clock, ids: countingIds() });
    await catalog.addChunks([record(1)], { partitions });
    await catalog.addChunks([record(2), record(3), record(4)], { partitions: 16 });
    const lease = (await catalog.leases.take('x', 60_000))!;
    const parts = { catalog, options: { graceMs: 0 } };
    const run = { tenant: 't', lease, hold: async () => {} };
    const read = (await catalog.day('t', DAY))!;
    const byId = (id: string) => read.records.find(found => found.id.endsWith(id))!;
    const first = await publish(parts, { ...run, snapshot: read }, [mergeOf([byId('1'), byId('2')], 5)]);
    const output = first.after.records.find(({ level }) => level === 1)!;
    const rest = [byId('3'), byId('4'), output];
    const second = await publish(parts, { ...run, snapshot: first.after }, [mergeOf(rest, 6)]);
    const stored = (await catalog.day('t', DAY))!.records;
    expect(stored.map(({ id, partitions }) => [id, partitions])).toEqual(
      second.after.records.map(({ id, partitions }) => [id, partitions]),
    );
    expect(stored).toHaveLength(1);
  });
});
