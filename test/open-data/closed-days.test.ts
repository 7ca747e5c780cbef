/**
 * Closed days of all tenants as files, over stores in memory: each entry is in one file, wherever a run is
 * cut.
 */
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { MS_PER_DAY, MS_PER_HOUR, NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { ALL_VISIBLE } from '../../shared/read/query/visibility.ts';
import { type ClosedDaysParts, exportClosedDays } from '../../shared/server/open-data/closed-days.ts';
import { NOTES_PREFIX, type OpenDataStore } from '../../shared/server/open-data/day-notes.ts';
import { hiveValue } from '../../shared/server/open-data/hive-path.ts';
import { retentionOf } from '../../shared/upkeep/retention/retention.ts';
import { DAY, memoryEngine } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

interface MemoryStore extends OpenDataStore {
  readonly objects: Map<string, Uint8Array>;
  readonly removed: string[];
}

/** @param failsAfter writes, if any */
function memoryStore(
  objects = new Map<string, Uint8Array>(),
  failsAfter = Number.POSITIVE_INFINITY,
): MemoryStore {
  const removed: string[] = [];
  let writes = 0;
  return {
    objects,
    removed,
    read: async key => objects.get(key),
    async write(key, bytes) {
      if (writes++ >= failsAfter) throw new Error('cut');
      objects.set(key, bytes);
    },
    async remove(key) {
      removed.push(key);
      objects.delete(key);
    },
  };
}

function partsOf(
  engine: ReturnType<typeof memoryEngine>,
  store: OpenDataStore,
  more: Partial<ClosedDaysParts> & { readonly nowMs?: number } = {},
): ClosedDaysParts {
  const { nowMs = (DAY + 10) * MS_PER_DAY, ...rest } = more;
  return {
    catalog: engine.catalog,
    sources: engine.sources,
    visibility: { of: async () => () => ALL_VISIBLE },
    store,
    prefix: 'logs',
    clock: { nowMs: () => nowMs, nowNs: () => BigInt(nowMs) * 1_000_000n },
    mayGoOn: () => true,
    ...rest,
  };
}

function entry(time: number, line: string, { day = DAY, service = 'web' } = {}): DatedEntry {
  return { stream: { app: 'a', service_name: service }, day, time, line, metadata: {} };
}

const filesIn = ({ objects }: MemoryStore) =>
  [...objects.keys()].filter(key => !key.startsWith(NOTES_PREFIX)).sort();

async function linesIn(store: MemoryStore): Promise<string[]> {
  const rows = await Promise.all(
    filesIn(store).map(async key => {
      const { buffer } = Uint8Array.from(store.objects.get(key)!);
      return parquetReadObjects({
        file: buffer,
        compressors: { ZSTD: packed => zstdDecompressSync(packed) },
      });
    }),
  );
  return rows.flat().map(({ timestamp_ns: ns, line }) => `${ns} ${line}`);
}

describe('closed days', () => {
  test('are exported once, by tenant, day and service', async () => {
    const engine = memoryEngine();
    await engine.push(
      [entry(1, 'a'), entry(2, 'b', { service: 'api/1' }), entry(3, 'c', { day: DAY + 1 })],
      'shop',
    );
    await engine.push([entry(1, 'd')], 'team');
    const store = memoryStore();
    expect(await exportClosedDays(partsOf(engine, store))).toEqual({
      steps: 3,
      files: 4,
      entries: 4,
      days: 3,
      isDone: true,
    });
    const day = (number: number) => new Date(number * MS_PER_DAY).toISOString().slice(0, 10);
    const [first, second] = [DAY, DAY + 1].map(each => `${BigInt(each) * NS_PER_DAY}.parquet`);
    expect(filesIn(store)).toEqual([
      `logs/tenant=shop/day=${day(DAY)}/service=api%2F1/${first}`,
      `logs/tenant=shop/day=${day(DAY)}/service=web/${first}`,
      `logs/tenant=shop/day=${day(DAY + 1)}/service=web/${second}`,
      `logs/tenant=team/day=${day(DAY)}/service=web/${first}`,
    ]);
    expect(await exportClosedDays(partsOf(engine, store))).toMatchObject({ steps: 0, isDone: true });
    // An entry that comes late is not there: its day is done.
    await engine.push([entry(9, 'late')], 'shop');
    expect(await exportClosedDays(partsOf(engine, store))).toMatchObject({ steps: 0, isDone: true });
  });

  test('are those that have ended two hours ago', async () => {
    const engine = memoryEngine();
    await engine.push([entry(1, 'a'), entry(1, 'b', { day: DAY + 1 })]);
    const store = memoryStore();
    const at = (nowMs: number) => exportClosedDays(partsOf(engine, store, { nowMs }));
    expect(await at((DAY + 1) * MS_PER_DAY + 2 * MS_PER_HOUR - 1)).toMatchObject({ days: 0 });
    expect(await at((DAY + 1) * MS_PER_DAY + 2 * MS_PER_HOUR)).toMatchObject({ days: 1, entries: 1 });
    expect(await at((DAY + 2) * MS_PER_DAY + 2 * MS_PER_HOUR)).toMatchObject({ days: 1, entries: 1 });
  });

  test('omit entries that queries hide', async () => {
    const engine = memoryEngine();
    await engine.push([entry(1, 'a')]);
    const retention = retentionOf({ ...DEFAULT_LIMITS, retentionPeriodNs: NS_PER_DAY }, true);
    const hidden = { deleteFilters: undefined, retention, nowNs: BigInt(DAY + 10) * NS_PER_DAY };
    const store = memoryStore();
    const parts = partsOf(engine, store, { visibility: { of: async () => () => hidden } });
    const report = await exportClosedDays(parts);
    expect([report.entries, filesIn(store)]).toEqual([0, []]);
  });

  test('tenants take turns', async () => {
    const engine = memoryEngine();
    const many = Array.from({ length: 30 }, (_, i) => entry(i * 1e9, 'x'.repeat(100)));
    for (const tenant of ['loud', 'quiet'])
      await engine.push(tenant === 'loud' ? many : [entry(1, 'q')], tenant);
    const store = memoryStore();
    let steps = 0;
    const parts = partsOf(engine, store, { stepBytes: 100, mayGoOn: () => steps++ < 10 });
    expect(await exportClosedDays(parts)).toMatchObject({ isDone: false });
    const tenants = new Set(filesIn(store).map(key => key.split('/')[1]));
    expect([...tenants].sort()).toEqual(['tenant=loud', 'tenant=quiet']);
  });

  test('resume a run that was cut after any write, and each entry is in one file', async () => {
    const engine = memoryEngine();
    const all = Array.from({ length: 40 }, (_, i) =>
      entry((i % 7) * 1e12 + i, `line ${i}`, { day: DAY + (i % 2), service: `s${i % 3}` }),
    );
    await engine.push(all);
    const want = all
      .map(({ day, time, line }) => `${BigInt(day) * NS_PER_DAY + BigInt(time)} ${line}`)
      .sort();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(12), { maxLength: 6 }),
        fc.integer({ min: 20, max: 400 }),
        async (cuts, stepBytes) => {
          const objects = new Map<string, Uint8Array>();
          for (const cut of cuts) {
            // A service that is gone next time must leave no file behind: other steps are other files.
            await exportClosedDays(
              partsOf(engine, memoryStore(objects, cut), { stepBytes: stepBytes + cut }),
            ).catch(() => undefined);
          }
          const store = memoryStore(objects);
          expect(await exportClosedDays(partsOf(engine, store, { stepBytes }))).toMatchObject({
            isDone: true,
          });
          expect((await linesIn(store)).sort()).toEqual(want);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('a note of a later version stops the run', async () => {
    const engine = memoryEngine();
    await engine.push([entry(1, 'a')], 'shop');
    const store = memoryStore(new Map([[`${NOTES_PREFIX}shop.json`, Buffer.from('{"version":2}')]]));
    await expect(exportClosedDays(partsOf(engine, store))).rejects.toThrow('version 2');
  });
});

describe('values of Hive folders', () => {
  test.each([
    ['web', 'web'],
    ['', '__HIVE_DEFAULT_PARTITION__'],
    ['..', '%2E%2E'],
    ['a.b/c é', 'a.b%2Fc%20%C3%A9'],
  ])('%j', (value, want) => {
    expect(hiveValue(value)).toBe(want);
  });

  test('folders of long values differ, and fit a file system', () => {
    const long = ['x', 'y'].map(end => hiveValue(`${'ü'.repeat(149)}${end}`));
    expect(long[0]).not.toBe(long[1]);
    for (const each of long) expect(each.length).toBeLessThanOrEqual(240);
    expect(hiveValue('t'.repeat(150))).toBe('t'.repeat(150));
  });
});
