/** Schedules are not reliable: ticks come twice, in two processes at the same time, late, or not for a day. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { maintenanceOptions } from '../../shared/server/http/maintenance-options.ts';
import { schedulesOf } from '../../shared/upkeep/maintenance/maintenance.ts';
import { linesOf, pushLine, START_MS, type TestProcess, type TestStores, testStores } from './store.ts';

const TENANTS = ['acme', 'beta', 'corp'];
const LINES = 40;

/**
 * A chunk for each line: a quarter of a minute apart, so that they are in several windows of five minutes.
 */
async function fill(stores: TestStores, process: TestProcess): Promise<void> {
  for (let i = 0; i < LINES; i++) {
    for (const tenant of TENANTS) await pushLine(process, tenant, stores.clock.nowMs(), `line ${i}`);
    stores.clock.advance(15_000);
  }
}

const WANTED = Array.from({ length: LINES }, (_, i) => `line ${i}`).sort();

async function expectAll(process: TestProcess): Promise<void> {
  for (const tenant of TENANTS)
    expect(await linesOf(process, tenant, START_MS, START_MS + MS_PER_DAY)).toEqual(WANTED);
}

async function chunksOf({ catalog }: TestProcess): Promise<number> {
  const day = START_MS / MS_PER_DAY;
  const days = await Promise.all(TENANTS.map(tenant => catalog.day(tenant, day)));
  return days.reduce((sum, snapshot) => sum + (snapshot?.records.length ?? 0), 0);
}

let stores: TestStores;
let a: TestProcess;
let b: TestProcess;
beforeEach(async () => {
  stores = testStores();
  a = stores.process(1);
  b = stores.process(2);
  await fill(stores, a);
});

test('the jobs of a process are those that a stack makes schedules for', () => {
  const { config, maintenance } = a.context;
  const listed = maintenance.jobs.list.map(({ name: job, everyMs }) => ({ job, everyMs }));
  expect(schedulesOf(maintenanceOptions(config))).toEqual(listed);
  const without = testStores({ indexSync: false }).process(1).context;
  const names = without.maintenance.jobs.list.map(({ name }) => name);
  expect(names).toEqual(['compaction', 'collection', 'deletion', 'retention', 'rules']);
  expect(schedulesOf(maintenanceOptions(without.config)).map(({ job }) => job)).not.toContain('index-sync');
  const compactor = { ...DEFAULT_CONFIG.compactor, retentionEnabled: false };
  const keeping = testStores({}, { compactor }).process(1).context.maintenance.jobs.list;
  expect(keeping.map(({ name }) => name)).toEqual(['compaction', 'collection', 'index-sync', 'rules']);
});

describe('a doubled tick', () => {
  test('two concurrent ticks of compaction merge the same as one', async () => {
    const alone = testStores();
    const only = alone.process(1);
    await fill(alone, only);
    stores.clock.advance(MS_PER_HOUR / 2);
    alone.clock.advance(MS_PER_HOUR / 2);
    const { figures } = await only.run('compaction');
    expect(figures.merges).toBeGreaterThan(TENANTS.length);

    const runs = await Promise.all([a.run('compaction'), b.run('compaction')]);
    for (const run of runs) expect(run).toMatchObject({ done: true, failures: [] });
    for (const name of ['merges', 'rows', 'duplicates'])
      expect(runs[0].figures[name] + runs[1].figures[name]).toBe(figures[name]);
    expect(await chunksOf(a)).toBe(await chunksOf(only));
    await expectAll(a);
    await expectAll(b);

    expect((await b.run('compaction')).figures.merges).toBe(0);
  });

  test('two concurrent ticks of every job lose nothing', async () => {
    for (let hour = 0; hour < 3; hour++) {
      stores.clock.advance(MS_PER_HOUR);
      const ticks = ['compaction', 'index-sync', 'collection'].flatMap(job => [a.tick(job), b.tick(job)]);
      for (const runs of await Promise.all(ticks)) for (const run of runs) expect(run.failures).toEqual([]);
      await expectAll(a);
    }
    expect(await chunksOf(a)).toBeLessThan(LINES);
  });

  test('two concurrent ticks of index sync begin one sync', async () => {
    stores.clock.advance(10 * 60_000);
    const runs = await Promise.all([a.run('index-sync'), b.run('index-sync')]);
    expect(runs.map(({ figures }) => figures.written).sort()).toEqual([0, TENANTS.length]);
    expect((await a.run('index-sync')).figures).toEqual({ days: 0, written: 0 });
    await expectAll(b);
  });
});

describe('missed ticks', () => {
  test('the ticks after a day without any do all of the work', async () => {
    stores.clock.advance(MS_PER_DAY + 2 * MS_PER_HOUR);
    for (const job of ['compaction', 'index-sync', 'collection'])
      expect(await a.run(job)).toMatchObject({ done: true, failures: [] });
    expect(await chunksOf(a)).toBe(TENANTS.length);
    await expectAll(a);
    // The days are over and merged, so none of them is checked again.
    expect((await b.run('compaction')).figures.days).toBe(0);

    // Objects that queries may still read are deleted after the grace period, and no sooner.
    const before = (await stores.store.list('')).objects.length;
    expect(before).toBeGreaterThan(TENANTS.length * LINES);
    stores.clock.advance(a.context.config.logboom.objectGraceMs + 1000);
    expect((await b.run('collection')).figures.deleted).toBeGreaterThanOrEqual(TENANTS.length * LINES);
    // A day of one chunk needs no index.
    expect((await stores.store.list('')).objects).toHaveLength(TENANTS.length);
    await expectAll(b);
  });

  test('pushes during a pause are merged with the others', async () => {
    stores.clock.advance(MS_PER_DAY);
    await pushLine(b, 'acme', START_MS + 1, 'late');
    stores.clock.advance(2 * MS_PER_HOUR);
    await a.run('compaction');
    expect(await linesOf(a, 'acme', START_MS, START_MS + MS_PER_DAY)).toEqual([...WANTED, 'late'].sort());
    expect((await a.catalog.day('acme', START_MS / MS_PER_DAY))?.records).toHaveLength(1);
  });
});

test('a run whose time is up leaves the rest to the next one', async () => {
  stores.clock.advance(2 * MS_PER_HOUR);
  const { jobs } = a.context.maintenance;
  const { signal } = new AbortController();
  const late = await jobs.run('compaction', { untilMs: stores.clock.nowMs(), signal });
  expect(late).toMatchObject({ done: false, failures: [], figures: { merges: 0 } });
  expect((await b.run('compaction')).figures.merges).toBeGreaterThan(0);
  await expectAll(a);
});

test('an interrupted run reports its progress', async () => {
  stores.clock.advance(2 * MS_PER_HOUR);
  const cutting = new AbortController();
  cutting.abort();
  const { jobs } = a.context.maintenance;
  const bounds = { untilMs: stores.clock.nowMs() + MS_PER_HOUR, signal: cutting.signal };
  expect(await jobs.run('compaction', bounds)).toMatchObject({ done: false, failures: [] });
  expect(await jobs.run('index-sync', bounds)).toMatchObject({ done: false, failures: [] });
  expect((await b.tick('compaction')).map(({ job }) => job)).toEqual(['index-sync', 'compaction']);
  await expectAll(b);
});
