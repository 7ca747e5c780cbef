import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FairScheduler } from '../../shared/base/scheduling/fair-scheduler.ts';

const round = () => new Promise(resolve => setImmediate(resolve));

/** A thread whose work takes the given time. */
function madeThread(weights: Readonly<Record<string, number>> = {}) {
  let nowMs = 0;
  const scheduler = new FairScheduler({ nowMs: () => nowMs, weightOf: tenant => weights[tenant] ?? 1 });
  /** Tenants in the order of their slices. */
  const slices: string[] = [];
  const usedMs: Record<string, number> = {};
  const work = async (tenant: string, count: number, sliceMs: number) => {
    for (let i = 0; i < count; i++) {
      await scheduler.acquire(tenant);
      const startedMs = scheduler.nowMs();
      nowMs += sliceMs;
      slices.push(tenant);
      usedMs[tenant] = (usedMs[tenant] ?? 0) + sliceMs;
      scheduler.charge(tenant, startedMs);
    }
  };
  return { scheduler, slices, usedMs, work, advance: (ms: number) => (nowMs += ms) };
}

test('a tenant that is alone gets every slice', async () => {
  const { slices, work, scheduler } = madeThread();
  await work('a', 50, 4);
  expect(slices).toHaveLength(50);
  expect(scheduler.waiting).toBe(0);
});

test('input and output have their turn between slices, also of a tenant that is alone', async () => {
  const { work } = madeThread();
  let rounds = 0;
  const counting = setInterval(() => undefined, 1000);
  const count = async () => {
    for (;;) {
      await round();
      rounds++;
      if (rounds > 1000) return;
    }
  };
  void count();
  await work('a', 100, 4);
  clearInterval(counting);
  expect(rounds).toBeGreaterThanOrEqual(99);
  rounds = 1001;
});

test.each([
  ['the same slices', { a: 4, b: 4 }],
  ['longer slices', { a: 40, b: 2 }],
  ['slices beyond the quantum', { a: 25, b: 7 }],
])('two tenants with %s get equal time', async (_, sliceMs) => {
  const { usedMs, work, slices } = madeThread();
  const done = Promise.all([work('a', 10_000, sliceMs.a), work('b', 10_000, sliceMs.b)]);
  while (slices.length < 2_000) await round();
  // Up to one slice each and the quantum of a round; and the very first slice, without competitors.
  expect(Math.abs(usedMs.a - usedMs.b)).toBeLessThanOrEqual(2 * sliceMs.a + sliceMs.b + 5);
  void done;
});

test('many tasks of one tenant get no more than the only one of another', async () => {
  const { usedMs, work, slices } = madeThread();
  const many = Array.from({ length: 50 }, () => work('many', 1000, 3));
  const one = work('one', 400, 3);
  await one;
  const total = usedMs.many + usedMs.one;
  expect(usedMs.one / total).toBeGreaterThan(0.45);
  expect(slices.length).toBeLessThan(1000);
  void many;
});

test('time is shared by weights', async () => {
  const { usedMs, work, slices } = madeThread({ heavy: 3 });
  const both = [work('heavy', 10_000, 2), work('light', 10_000, 2)];
  while (slices.length < 4_000) await round();
  expect(usedMs.heavy / usedMs.light).toBeGreaterThan(2.7);
  expect(usedMs.heavy / usedMs.light).toBeLessThan(3.3);
  void both;
});

test('a tenant that arrives late waits for one slice of each other, not for their earlier work', async () => {
  const { slices, work } = madeThread();
  const others = ['a', 'b', 'c'].map(tenant => work(tenant, 500, 5));
  while (slices.length < 300) await round();
  const before = slices.length;
  await work('late', 1, 1);
  expect(slices.indexOf('late') - before).toBeLessThanOrEqual(4);
  void others;
});

test('unused time is not saved up', async () => {
  const { slices, work, advance } = madeThread();
  const busy = work('busy', 2_000, 2);
  await work('rare', 1, 1);
  advance(100_000);
  const from = slices.length;
  await work('rare', 300, 2);
  const rare = slices.slice(from, from + 200).filter(tenant => tenant === 'rare').length;
  expect(rare).toBeLessThanOrEqual(110);
  void busy;
});

test('tenants that came and went are forgotten', async () => {
  const { scheduler, work } = madeThread();
  for (let i = 0; i < 20; i++) {
    await Promise.all(Array.from({ length: 500 }, (_, j) => work(`t${i}-${j}`, 1, 9)));
  }
  await round();
  expect(scheduler.tenants).toBe(0);
});

test('no task is lost, and none waits while the thread is idle', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          tenant: fc.constantFrom('a', 'b', 'c', 'a|b'),
          slices: fc.integer({ min: 0, max: 8 }),
          sliceMs: fc.integer({ min: 0, max: 30 }),
        }),
        { maxLength: 12 },
      ),
      async tasks => {
        const { scheduler, slices, work } = madeThread();
        await Promise.all(tasks.map(({ tenant, slices: count, sliceMs }) => work(tenant, count, sliceMs)));
        expect(slices).toHaveLength(tasks.reduce((sum, { slices: count }) => sum + count, 0));
        expect(scheduler.waiting).toBe(0);
      },
    ),
    { numRuns: 50 },
  );
});

test('a later stage comes before tasks of its tenant that have not begun, and after those of others', async () => {
  const { scheduler, advance } = madeThread();
  const slices: string[] = [];
  const task = async (tenant: string, name: string) => {
    for (const stage of [1, 2, 3]) {
      await scheduler.acquire(tenant, { isLaterStage: stage > 1 });
      const startedMs = scheduler.nowMs();
      advance(5);
      slices.push(`${name}${stage}`);
      scheduler.charge(tenant, startedMs);
    }
  };
  // Occupies the first round, so that the tasks wait.
  scheduler.charge('x', scheduler.nowMs() - 5);
  await Promise.all([task('a', 'a'), task('a', 'b'), task('a', 'c'), task('o', 'o')]);
  expect(slices).toEqual(['a1', 'o1', 'a2', 'o2', 'a3', 'o3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
  expect(scheduler.waiting).toBe(0);
});
