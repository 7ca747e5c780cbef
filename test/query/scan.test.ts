import { expect, jest, test } from '@jest/globals';
import type { Stream } from '../../shared/base/model/page.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { TimeSlice } from '../../shared/execution/pipeline/time-slice.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { planDay, recordsByDay } from '../../shared/read/query/day-plan.ts';
import { Overlaps } from '../../shared/read/query/overlaps.ts';
import { scanPages } from '../../shared/read/query/scan.ts';
import { compileSelector } from '../../shared/read/query/selector.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, DAY_START_NS } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

const ROWS = 50;
const range = { startNs: DAY_START_NS, endNs: DAY_START_NS + 86_400_000_000_000n };

async function storeWith(tenants: readonly string[]) {
  const store = memoryObjectStore();
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  for (const tenant of tenants) {
    const entries = Array.from({ length: ROWS }, (_, time) => ({
      stream: { app: 'a' },
      day: DAY,
      time,
      line: `${tenant}-${time}-${tenant.repeat(40)}`,
      metadata: {},
    }));
    await committer.commit(tenant, pushOf(entries));
  }
  return { catalog, source: new ChunkSource(store) };
}

/** All lines of a tenant, read `rowsPerTurn` at a time. */
async function scanned(
  { catalog, source }: Awaited<ReturnType<typeof storeWith>>,
  tenant: string,
  rowsPerTurn: number,
  controller = new AbortController(),
  onVisit = () => {},
): Promise<string[]> {
  const statistics = newStatistics();
  const { signal } = controller;
  const timeSlice = new TimeSlice();
  const lines: string[] = [];
  for (const { day, records } of await recordsByDay(catalog, tenant, range, false, statistics)) {
    const plan = await planDay(source, day, records, compileSelector([]), range, statistics, signal);
    const context = { source, statistics, signal, timeSlice, shown: (stream: Stream) => stream };
    const wants = { lines: 'bytes', metadata: 'all' } as const;
    await scanPages(context, plan, plan.pages, new Overlaps(plan, source, statistics), wants, {
      wants: () => true,
      visit: (page, selection, count) => {
        onVisit();
        const done = Math.min(rowsPerTurn, count);
        for (const row of selection.subarray(0, done)) {
          lines.push(page.lines.toString('utf8', page.lineOffsets[row], page.lineOffsets[row + 1]));
        }
        selection.copyWithin(0, done, count);
        timeSlice.left = count - done;
      },
    });
  }
  return lines;
}

test('a page scanned in time slices keeps its lines while other queries decompress theirs', async () => {
  const store = await storeWith(['t', 'u']);
  const [t, u] = await Promise.all([scanned(store, 't', 3), scanned(store, 'u', 7)]);
  const want = (tenant: string) =>
    Array.from({ length: ROWS }, (_, time) => `${tenant}-${time}-${tenant.repeat(40)}`);
  expect(t).toEqual(want('t'));
  expect(u).toEqual(want('u'));
});

test('lines that were lost between two time slices are unpacked again once', async () => {
  const store = await storeWith(['t', 'u']);
  const { scheduler } = store.source;
  const acquire = scheduler.acquire.bind(scheduler);
  jest.spyOn(scheduler, 'acquire').mockImplementation(async tenant => {
    await acquire(tenant);
    // Another query unpacks its page over the lines.
    if (tenant === 't') await scanned(store, 'u', ROWS);
  });
  const { get } = Object.getOwnPropertyDescriptor(PageColumns.prototype, 'lines')!;
  const unpacked = new Set<Buffer>();
  const spy = jest.spyOn(PageColumns.prototype, 'lines', 'get').mockImplementation(function (
    this: PageColumns,
  ) {
    const lines: Buffer = get!.call(this);
    if (lines.subarray(0, 2).equals(Buffer.from('t-'))) unpacked.add(lines);
    return lines;
  });
  try {
    const lines = await scanned(store, 't', 3);
    expect(lines).toEqual(Array.from({ length: ROWS }, (_, time) => `t-${time}-${'t'.repeat(40)}`));
  } finally {
    spy.mockRestore();
  }
  expect(unpacked.size).toBe(2);
});

test('an abandoned scan ends between two time slices', async () => {
  const store = await storeWith(['t']);
  const controller = new AbortController();
  let visits = 0;
  const scan = scanned(store, 't', 1, controller, () => {
    if (++visits === 5) controller.abort(new Error('given up'));
  });
  await expect(scan).rejects.toThrow('given up');
  expect(visits).toBe(5);
});
