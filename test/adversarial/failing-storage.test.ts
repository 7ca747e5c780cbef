/**
 * Reads, writes and syncs of objects and of the catalog fail with EIO, at random but the same in each run. Queries
 * return each acknowledged entry once as soon as the storage works again, and no successful query omits one.
 */
import { expect, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { fetchDeletes } from '../http/delete-calls.ts';
import { linesOf, pushLine, START_MS, type TestProcess, testStores } from '../maintenance/store.ts';
import { bySuite } from '../support/suite.ts';

const TENANT = 'acme';
const ROUNDS = bySuite({ fast: 2, full: 6 });
const LINES_A_ROUND = 8;
/** Share of calls that fail while faults are on. */
const FAULTY = 3;

type Method = keyof ObjectStore | keyof Table;

interface Faults {
  isOn: boolean;
  /** Number of failed calls. */
  count: number;
}

/** The port with failing calls of the named methods: before they do anything, or after all is done. */
function failing<Port extends object>(
  port: Port,
  methods: readonly Method[],
  when: 'before' | 'after',
  faults: Faults,
): Port {
  let calls = 0;
  const fails = () => {
    if (!faults.isOn || ++calls % FAULTY !== 0) return;
    faults.count++;
    throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', errno: -5 });
  };
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (!(methods as readonly unknown[]).includes(name)) return value;
      return async (...args: unknown[]) => {
        if (when === 'before') fails();
        const result: unknown = await (value as (...given: unknown[]) => Promise<unknown>).apply(
          target,
          args,
        );
        if (when === 'after') fails();
        return result;
      };
    },
  });
}

async function statusOf(work: Promise<unknown>): Promise<number> {
  try {
    await work;
    return 204;
  } catch (error) {
    return Number(/^(\d{3}):/.exec((error as Error).message)?.[1]);
  }
}

/** All lines; undefined if the query failed because of the storage. */
async function found(process: TestProcess): Promise<string[] | undefined> {
  const range = [START_MS - MS_PER_DAY, START_MS + 4 * MS_PER_DAY] as const;
  try {
    return await linesOf(process, TENANT, ...range);
  } catch (error) {
    expect((error as Error).message).toMatch(/^5\d\d: /);
    return undefined;
  }
}

const OBJECT_READS: readonly Method[] = ['get', 'getRange', 'getTail', 'head', 'list'];
const OBJECT_WRITES: readonly Method[] = ['putIfAbsent', 'delete'];
const CATALOG_READS: readonly Method[] = ['get', 'query'];
const CATALOG_WRITES: readonly Method[] = ['put', 'delete', 'transact'];
const NOTHING: readonly Method[] = [];

test.each([
  ['reads of objects', OBJECT_READS, NOTHING, 'before'],
  ['writes of objects', OBJECT_WRITES, NOTHING, 'before'],
  ['syncs of objects', OBJECT_WRITES, NOTHING, 'after'],
  ['reads of the catalog', NOTHING, CATALOG_READS, 'before'],
  ['writes of the catalog', NOTHING, CATALOG_WRITES, 'before'],
  ['syncs of the catalog', NOTHING, CATALOG_WRITES, 'after'],
  ['everything', [...OBJECT_READS, ...OBJECT_WRITES], [...CATALOG_READS, ...CATALOG_WRITES], 'after'],
] as const)('EIO on %s', async (_, ofObjects, ofCatalog, when) => {
  const faults: Faults = { isOn: false, count: 0 };
  const limits = { ...DEFAULT_CONFIG.limits, deletionMode: 'filter-and-delete' as const };
  const { clock, process: start } = testStores(
    {},
    { limits },
    {
      store: store => failing(store, ofObjects, when, faults),
      table: table => failing(table, ofCatalog, when, faults),
    },
  );
  const process = start(1);
  const acknowledged = new Set<string>();
  const pushed = new Set<string>();
  const runJobs = async () => {
    for (const job of ['compaction', 'index-sync', 'deletion', 'collection']) {
      await process.run(job).catch((error: unknown) => {
        if (!faults.isOn) throw error;
      });
    }
  };

  for (let round = 0; round < ROUNDS; round++) {
    faults.isOn = true;
    for (let i = 0; i < LINES_A_ROUND; i++) {
      const line = `${i % 4 === 0 ? 'gone' : 'kept'} ${round}-${i}`;
      pushed.add(line);
      const status = await statusOf(pushLine(process, TENANT, clock.nowMs(), line));
      expect([204, 500, 503]).toContain(status);
      if (status === 204) acknowledged.add(line);
      clock.advance(1000);
      const lines = await found(process);
      if (lines === undefined) continue;
      expect(lines).toEqual(expect.arrayContaining([...acknowledged]));
      expect(new Set(lines).size).toBe(lines.length);
    }
    await runJobs();
    clock.advance(10 * 60_000);
    faults.isOn = round % 2 === 0;
    await runJobs();
  }

  faults.isOn = false;
  const before = (await found(process))!;
  expect(before).toEqual(expect.arrayContaining([...acknowledged]));
  expect(new Set(before).size).toBe(before.length);
  for (const line of before) expect(pushed).toContain(line);

  const { status } = await fetchDeletes(process, 'POST', {
    query: '{app="a"} |= "gone"',
    start: Math.floor(START_MS / 1000) - 3600,
  });
  expect(status).toBe(204);
  const kept = before.filter(line => line.startsWith('kept'));
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(before.length);
  for (const isOn of [true, true, true, false, false, false, false, false]) {
    faults.isOn = isOn;
    clock.advance(MS_PER_DAY / 4);
    await runJobs();
    const lines = await found(process);
    if (lines !== undefined) expect(lines).toEqual(kept);
  }
  expect(faults.count).toBeGreaterThan(10);
  expect(await found(process)).toEqual(kept);
  // Another process knows only the stored data.
  expect(await found(start(2))).toEqual(kept);
  clock.advance(MS_PER_HOUR);
});
