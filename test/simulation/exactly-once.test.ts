/**
 * Invariant 1 of the design: an acknowledged entry is returned by every query that selects it, from the moment of the
 * answer, exactly once. Clients push random batches, repeat some, and repeat what failed; the stores fail before and
 * after the effect, throttle and delay, by seed.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { faultyObjectStore } from '../../shared/base/ports/faulty/object-store.ts';
import { faultyTable } from '../../shared/base/ports/faulty/table.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { planDay, recordsByDay, type TimeRange } from '../../shared/read/query/day-plan.ts';
import { Overlaps } from '../../shared/read/query/overlaps.ts';
import { scanPages } from '../../shared/read/query/scan.ts';
import { compileSelector } from '../../shared/read/query/selector.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { type DatedEntry, identityOf, pushOf } from '../support/pushes.ts';
import { arbitraryEntries } from '../support/rows.ts';

const DAYS = [19_999, 20_000];

interface Faults {
  readonly errorBefore: number;
  readonly errorAfter: number;
  readonly throttle: number;
}

function makeStore(seed: number, faults: Faults, inlineMaxBytes: number) {
  const store = faultyObjectStore(memoryObjectStore(), { seed, clock: SYSTEM_CLOCK, ...faults });
  const table = faultyTable(memoryTable({ clock: SYSTEM_CLOCK }), {
    seed: seed + 1,
    clock: SYSTEM_CLOCK,
    ...faults,
  });
  const options = { waitMs: 0, maxGroupBytes: 4096, inlineMaxBytes, compression: QUICK_COMPRESSION };
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  return { store, table, catalog, committer };
}

/** Everything that a query of the range returns. */
async function readAll(
  store: ReturnType<typeof makeStore>,
  tenant: string,
  range: TimeRange,
): Promise<DatedEntry[]> {
  const statistics = newStatistics();
  const source = new ChunkSource(store.store);
  const selector = compileSelector([]);
  const { signal } = new AbortController();
  const found: DatedEntry[] = [];
  for (const { day, records } of await recordsByDay(store.catalog, tenant, range, false, statistics)) {
    const plan = await planDay(source, day, records, selector, range, statistics, signal);
    const overlaps = new Overlaps(plan, source, statistics);
    const context = {
      source,
      statistics,
      signal,
      shown: (stream: Parameters<typeof selector.matches>[0]) => stream,
    };
    await scanPages(
      context,
      plan,
      plan.pages,
      overlaps,
      { lines: 'bytes', metadata: 'all' },
      {
        wants: () => true,
        visit: (page, selection, count) => {
          const base = Number(page.baseNs - BigInt(day) * NS_PER_DAY);
          for (let i = 0; i < count; i++) {
            const row = selection[i];
            const run = page.runs.findLast(one => one.firstRow <= row)!;
            const metadata: Record<string, string> = {};
            for (const column of page.metadata) {
              if (column.ids[row] > 0) metadata[column.name] = column.valueAt(column.ids[row] - 1);
            }
            found.push({
              stream: Object.fromEntries(run.stream.labels.map(({ name, value }) => [name, value])),
              day,
              time: base + page.times[row],
              line: page.lines.toString('utf8', page.lineOffsets[row], page.lineOffsets[row + 1]),
              metadata,
            });
          }
        },
      },
    );
  }
  return found;
}

const batches = fc.array(
  arbitraryEntries(12).chain(entries =>
    fc
      .tuple(...entries.map(() => fc.constantFrom(...DAYS)))
      .map(days => entries.map((e, i): DatedEntry => ({ ...e, day: days[i] }))),
  ),
  { minLength: 1, maxLength: 12 },
);

describe('exactly once', () => {
  test.each([
    ['without faults', { errorBefore: 0, errorAfter: 0, throttle: 0 }, 4096],
    ['with faults, inline', { errorBefore: 0.15, errorAfter: 0.15, throttle: 0.1 }, 4096],
    ['with faults, as objects', { errorBefore: 0.15, errorAfter: 0.15, throttle: 0.1 }, 0],
  ])('%s', async (_name, faults, inlineMaxBytes) => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), async (lists, seed) => {
        const store = makeStore(seed, faults, inlineMaxBytes);
        const random = seededRandom(seed);
        const acknowledged = new Set<string>();
        const attempted = new Set<string>();
        const pushUntilStored = async (list: DatedEntry[]) => {
          for (let attempt = 0; attempt < 40; attempt++) {
            for (const entry of list) attempted.add(identityOf(entry));
            try {
              await store.committer.commit('t', pushOf(list));
              for (const entry of list) acknowledged.add(identityOf(entry));
              return;
            } catch {
              // The client cannot know whether it was stored: it pushes again, sometimes in other company.
            }
          }
        };
        await Promise.all(lists.map(pushUntilStored));
        await Promise.all(lists.filter(() => random() < 0.5).map(pushUntilStored));

        store.store.faults.enabled = false;
        store.table.faults.enabled = false;
        const whole = { startNs: BigInt(DAYS[0]) * NS_PER_DAY, endNs: BigInt(DAYS[1] + 1) * NS_PER_DAY };
        const found = (await readAll(store, 't', whole)).map(identityOf);
        expect(found.length).toBe(new Set(found).size);
        for (const entry of acknowledged) expect(found).toContain(entry);
        for (const entry of found) expect(attempted.has(entry)).toBe(true);
        expect(await readAll(store, 'other', whole)).toEqual([]);

        // A part of the time holds just the entries of that part.
        const cut = {
          startNs: whole.startNs + NS_PER_DAY / 3n,
          endNs: whole.startNs + NS_PER_DAY + 60_000_000_001n,
        };
        const inside = (entry: DatedEntry) => {
          const ns = BigInt(entry.day) * NS_PER_DAY + BigInt(entry.time);
          return ns >= cut.startNs && ns < cut.endNs;
        };
        const part = (await readAll(store, 't', cut)).map(identityOf).sort();
        const all = (await readAll(store, 't', whole)).filter(inside).map(identityOf).sort();
        expect(part).toEqual(all);
      }),
      { numRuns: 40 },
    );
  });
});
