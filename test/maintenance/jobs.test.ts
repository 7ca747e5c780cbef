import { describe, expect, jest, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { hasFailed, type Job, type JobOutcome, Jobs } from '../../shared/upkeep/maintenance/jobs.ts';
import { pushLine, START_MS, type TestProcess, testStores } from './store.ts';

const OUTCOME: JobOutcome = { done: true, succeeded: 1, figures: {}, failures: [] };
const bounds = { untilMs: Infinity, signal: new AbortController().signal };

test.each<[Partial<JobOutcome>, boolean]>([
  [{}, false],
  [{ succeeded: 0 }, false],
  [{ failures: ['x'] }, false],
  [{ succeeded: 0, failures: ['x'] }, true],
])('%j: failed altogether: %s', (outcome, want) => {
  expect(hasFailed({ ...OUTCOME, ...outcome })).toBe(want);
});

describe('a tick', () => {
  function jobsOf(...jobs: (Partial<Job> & { name: string })[]) {
    const { clock, process } = testStores();
    const ran: string[] = [];
    const list = jobs.map(job => ({
      everyMs: MS_PER_MINUTE,
      run: async () => {
        ran.push(job.name);
        return OUTCOME;
      },
      ...job,
    }));
    return { jobs: new Jobs({ jobs: list, catalog: process(1).catalog, clock }), ran };
  }

  test('runs requested jobs first, and the named job last', async () => {
    const { jobs, ran } = jobsOf(
      { name: 'named', isRequested: async () => true },
      { name: 'asked', isRequested: async () => true },
      { name: 'idle', isRequested: async () => false },
      { name: 'plain' },
    );
    expect((await jobs.tick('named', bounds)).map(({ job }) => job)).toEqual(['asked', 'named']);
    expect(ran).toEqual(['asked', 'named']);
  });

  test('continues if requests of a job cannot be read', async () => {
    const broken = async () => Promise.reject(new Error('no table'));
    const { jobs, ran } = jobsOf({ name: 'named' }, { name: 'asked', isRequested: broken });
    await jobs.tick('named', bounds);
    expect(ran).toEqual(['named']);
  });

  test('a tick of an unknown job does nothing', async () => {
    const { jobs, ran } = jobsOf({ name: 'named' }, { name: 'asked', isRequested: async () => true });
    await expect(jobs.tick('nosuch', bounds)).rejects.toThrow('job nosuch does not exist');
    expect(ran).toEqual([]);
  });

  test('a job that throws is a run that failed, and the newest run is kept', async () => {
    const run = async () => Promise.reject(new Error('no store'));
    const { jobs } = jobsOf({ name: 'named', run });
    expect(await jobs.lastRun('named')).toBeUndefined();
    const [last] = await jobs.tick('named', bounds);
    expect(last).toMatchObject({ job: 'named', done: false, succeeded: 0, failures: ['no store'] });
    expect(hasFailed(last)).toBe(true);
    expect(await jobs.lastRun('named')).toEqual(last);
  });

  test('keeps a bounded number of failures', async () => {
    const failures = Array.from({ length: 1000 }, (_, i) => `failure ${i}`);
    const { jobs } = jobsOf({ name: 'named', run: async () => ({ ...OUTCOME, failures }) });
    expect((await jobs.run('named', bounds)).failures).toEqual(failures.slice(0, 20));
  });
});

describe('index sync', () => {
  const put = ({ ask }: TestProcess) => ask('PUT', '/sync-indexes');
  const status = ({ context }: TestProcess) => context.maintenance.sync.status();

  async function filled() {
    const { clock, process } = testStores();
    const a = process(1);
    for (let i = 0; i < 3; i++) await pushLine(a, 'acme', clock.nowMs(), `line ${i}`);
    clock.advance(MS_PER_HOUR);
    return { clock, a, b: process(2) };
  }

  test('a requested sync is run by the next tick of any job, in any process', async () => {
    const { a, b } = await filled();
    expect((await put(a)).status).toBe(202);
    expect((await b.tick('collection')).map(({ job }) => job)).toEqual(['index-sync', 'collection']);
    expect(await status(a)).toMatchObject({ inProgress: false, lastTrigger: 'manual' });
    // Forced: three chunks are too few for a periodic one.
    expect(await a.context.maintenance.jobs.lastRun('index-sync')).toMatchObject({
      figures: { days: 1, written: 1 },
    });
    expect((await b.tick('compaction')).map(({ job }) => job)).toEqual(['compaction']);
  });

  // [after the sync before, whether a run begins one]
  test.each<[number, boolean]>([
    [0, false],
    [4 * MS_PER_MINUTE, false],
    [4.6 * MS_PER_MINUTE, true],
    [5 * MS_PER_MINUTE, true],
    [MS_PER_DAY, true],
  ])('%d ms after the one before: a run begins one: %s', async (afterMs, begins) => {
    const { clock, a, b } = await filled();
    expect((await a.run('index-sync')).figures.days).toBe(1);
    expect(await status(a)).toMatchObject({ inProgress: false, lastTrigger: 'periodic' });
    clock.advance(afterMs);
    expect((await b.run('index-sync')).figures.days).toBe(begins ? 1 : 0);
  });

  test('a requested sync is not done while a merge holds a day; a periodic one leaves the day to the next', async () => {
    const { clock, a, b } = await filled();
    const { leases } = a.catalog;
    const day = Math.floor(START_MS / MS_PER_DAY);
    const held = (await leases.take(dayLease('acme', day), 10 * MS_PER_MINUTE))!;
    expect(await b.run('index-sync')).toMatchObject({ done: true });
    expect(await status(b)).toMatchObject({ inProgress: false });
    clock.advance(MS_PER_MINUTE);
    await put(a);
    expect((await b.tick('collection'))[0]).toMatchObject({ job: 'index-sync', done: false, failures: [] });
    expect(await status(b)).toMatchObject({ inProgress: true });
    await leases.release(held);
    expect((await b.tick('collection'))[0]).toMatchObject({ done: true, figures: { written: 1 } });
    expect(await status(b)).toMatchObject({ inProgress: false, lastTrigger: 'manual' });
  });

  test('a sync of a process that died continues when its lease expires', async () => {
    const { clock, a, b } = await filled();
    await put(a);
    const died = a.context.maintenance.sync.work(() => new Promise(() => {}));
    await new Promise(setImmediate);
    expect((await b.run('index-sync')).figures.days).toBe(0);
    expect(await status(b)).toMatchObject({ inProgress: true });
    clock.advance(3 * MS_PER_MINUTE);
    expect((await b.tick('compaction'))[0]).toMatchObject({ job: 'index-sync', figures: { written: 1 } });
    expect(await status(b)).toMatchObject({ inProgress: false, lastDurationMs: 3 * MS_PER_MINUTE });
    expect(died).toBeInstanceOf(Promise);
  });
});

test('a corrupt chunk does not prevent merges of other days', async () => {
  const { clock, store, process } = testStores();
  const a = process(1);
  for (const tenant of ['acme', 'beta']) {
    for (let i = 0; i < 3; i++) await pushLine(a, tenant, clock.nowMs(), `line ${i}`);
  }
  clock.advance(MS_PER_HOUR);
  const { objects } = await store.list('acme/');
  const breakOne = async (key: string) => {
    await store.delete(key);
    await store.putIfAbsent(key, Buffer.from('this is no chunk'));
  };
  await breakOne(objects[0].key);
  const run = await process(2).run('compaction');
  expect(run).toMatchObject({ done: false, succeeded: 1, figures: { merges: 1 } });
  // Nor the rest of its tenant: the broken chunk, and the two others as one.
  expect((await a.catalog.day('acme', START_MS / MS_PER_DAY))?.records).toHaveLength(2);
  expect(run.failures).toEqual([expect.stringMatching(/^acme day \d+: /)]);
  expect(hasFailed(run)).toBe(false);
});

describe('a flush', () => {
  const flush = ({ ask }: TestProcess) => ask('POST', '/flush');

  test('merges open windows and adds the existing chunks to the index', async () => {
    const { clock, process } = testStores();
    const a = process(1);
    // One stays a separate chunk: it is far larger than the others together.
    await pushLine(a, 'acme', clock.nowMs(), Array.from({ length: 9999 }, (_, i) => i * i).join(' '));
    for (let i = 0; i < 3; i++) await pushLine(a, 'acme', clock.nowMs(), `line ${i}`);
    await flush(a);
    expect(await process(2).run('compaction')).toMatchObject({ done: true, figures: { merges: 1 } });
    const snapshot = (await a.catalog.day('acme', START_MS / MS_PER_DAY))!;
    expect(snapshot.records).toHaveLength(2);
    expect(snapshot.indexes).toHaveLength(1);
    expect(await a.context.maintenance.flush.pending()).toBeUndefined();
  });

  test('a flush that is requested by a clock behind the previous one is run, too', async () => {
    const { clock, process } = testStores();
    const a = process(1);
    await flush(a);
    await a.run('compaction');
    clock.advance(-MS_PER_HOUR);
    await flush(a);
    expect(await a.context.maintenance.flush.pending()).toBeDefined();
  });
});

describe('a run of compaction', () => {
  const days = async (run: Promise<{ readonly figures: Readonly<Record<string, number>> }>) => {
    const { days, quiet } = (await run).figures;
    return { days, quiet };
  };

  test('visits a day without pushes only when a window closes', async () => {
    const { clock, process } = testStores();
    const a = process(1);
    const b = process(2);
    clock.advance(71 * MS_PER_MINUTE);
    for (const minute of [0, 1, 70]) {
      await pushLine(a, 'acme', START_MS + minute * MS_PER_MINUTE, `line of ${minute}`);
    }
    clock.advance(31 * MS_PER_MINUTE);
    // Two chunks are left, of two hours, until the day is over.
    expect(await days(b.run('compaction'))).toEqual({ days: 1, quiet: 0 });
    expect((await a.catalog.day('acme', START_MS / MS_PER_DAY))?.records).toHaveLength(2);
    clock.advance(10 * MS_PER_HOUR);
    expect(await days(b.run('compaction'))).toEqual({ days: 1, quiet: 1 });
    // A push is visible immediately, and stays so while its process may push more without a notice.
    for (let i = 0; i < 2; i++) await pushLine(a, 'acme', clock.nowMs() - 20 * MS_PER_MINUTE, `late ${i}`);
    for (let minutes = 0; minutes < 30; minutes += 10) {
      expect(await days(b.run('compaction'))).toEqual({ days: 1, quiet: 0 });
      clock.advance(10 * MS_PER_MINUTE);
    }
    expect((await a.catalog.day('acme', START_MS / MS_PER_DAY))?.records).toHaveLength(3);
    clock.advance(MS_PER_MINUTE);
    expect(await days(b.run('compaction'))).toEqual({ days: 1, quiet: 0 });
    expect(await days(b.run('compaction'))).toEqual({ days: 1, quiet: 1 });
    clock.advance(14 * MS_PER_HOUR);
    expect(await days(b.run('compaction'))).toEqual({ days: 1, quiet: 0 });
    expect((await a.catalog.day('acme', START_MS / MS_PER_DAY))?.records).toHaveLength(1);
  });

  test('a run that exceeds its time is continued by the next run', async () => {
    const { clock, process } = testStores();
    const a = process(1);
    const tenants = Array.from({ length: 20 }, (_, i) => `t${i}`);
    for (const tenant of tenants) {
      for (let i = 0; i < 2; i++) await pushLine(a, tenant, clock.nowMs(), `line ${i}`);
    }
    clock.advance(10 * MS_PER_MINUTE);
    const { compactDay } = Compactor.prototype;
    const visits: string[] = [];
    const seen = jest.spyOn(Compactor.prototype, 'compactDay').mockImplementation(async function (
      this: Compactor,
      work,
    ) {
      visits.push(work.tenant);
      clock.advance(MS_PER_MINUTE);
      return compactDay.call(this, work);
    });
    try {
      const { jobs } = a.context.maintenance;
      const { signal } = new AbortController();
      for (let run = 0; run < 4; run++) {
        const last = await jobs.run('compaction', { untilMs: clock.nowMs() + 5 * MS_PER_MINUTE, signal });
        expect(last.done).toBe(false);
      }
      // Each had its turn, although no run came through.
      expect(visits).toHaveLength(20);
      expect(new Set(visits)).toEqual(new Set(tenants));
    } finally {
      seen.mockRestore();
    }
  });
});
