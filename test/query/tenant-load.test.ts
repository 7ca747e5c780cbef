import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TenantLoad } from '../../shared/query/tenant-load.ts';

/** Time passes where a test says so. */
function loadByHand() {
  let atMs = 0;
  const load = new TenantLoad({ nowMs: () => atMs });
  return {
    load,
    pass(ms: number): void {
      atMs += ms;
    },
    work(tenant: string, ms: number): void {
      const startedMs = atMs;
      atMs += ms;
      load.note(startedMs, tenant);
    },
  };
}

test('who had much waits for a request of who had little, some times what its last piece took', () => {
  const { load, work, pass } = loadByHand();
  work('loud', 200);
  work('loud', 3);
  const end = load.begin('quiet');
  expect(load.waitMs('loud', 4)).toBe(12);
  pass(5);
  expect(load.waitMs('loud', 4)).toBe(7);
  expect(load.waitMs('quiet', 4)).toBe(0);
  end();
  expect(load.waitMs('loud', 4)).toBe(0);
});

test('a piece that was too long is not paid for in full', () => {
  const { load, work } = loadByHand();
  work('loud', 300);
  load.begin('quiet');
  expect(load.waitMs('loud', 8)).toBe(40);
});

test.each([
  ['who had little itself', 20, 0],
  ['whose requests are those of who had more than half as much', 200, 120],
])('%s waits for nobody', (_, loudMs, otherMs) => {
  const { load, work } = loadByHand();
  work('other', otherMs);
  work('loud', loudMs);
  load.begin('other');
  expect(load.waitMs('loud', 8)).toBe(0);
});

test('requests of the tenant itself, and those that take long, are not waited for', () => {
  const { load, work, pass } = loadByHand();
  work('loud', 200);
  load.begin('loud');
  expect(load.waitMs('loud', 8)).toBe(0);
  load.begin('quiet');
  pass(51);
  work('loud', 3);
  expect(load.waitMs('loud', 8)).toBe(0);
  load.begin('quiet');
  expect(load.waitMs('loud', 8)).toBe(24);
});

test('work long ago counts for nothing', () => {
  const { load, work, pass } = loadByHand();
  work('loud', 200);
  pass(2000);
  work('loud', 3);
  load.begin('quiet');
  expect(load.waitMs('loud', 8)).toBe(0);
});

test('who listens is told of each request that others may have waited for', () => {
  const { load } = loadByHand();
  let told = 0;
  load.onEnd(() => told++);
  const ends = [load.begin('a'), load.begin('b')];
  for (const end of ends) end();
  // Once for each.
  ends[0]();
  expect(told).toBe(2);
});

test('whatever is asked, a tenant gets its part of the time', () => {
  const pieces = fc.array(fc.record({ ms: fc.integer({ min: 1, max: 30 }), begins: fc.boolean() }), {
    minLength: 50,
    maxLength: 200,
  });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 8 }), (all, times) => {
      const { load, work, pass } = loadByHand();
      let workedMs = 0;
      let waitedMs = 0;
      for (const { ms, begins } of all) {
        if (begins) load.begin('quiet');
        for (let waitMs = load.waitMs('loud', times); waitMs > 0; waitMs = load.waitMs('loud', times)) {
          load.begin('quiet');
          waitedMs += waitMs;
          pass(waitMs);
        }
        work('loud', ms);
        workedMs += ms;
      }
      expect(waitedMs).toBeLessThanOrEqual(times * workedMs);
    }),
  );
});

test('a great number of tenants is not remembered', () => {
  const { load, work } = loadByHand();
  work('loud', 500);
  for (let i = 0; i < 2500; i++) work(`t${i}`, 0);
  expect(load.tenants).toBeLessThanOrEqual(1000);
  // Those that had the least go first.
  work('loud', 3);
  load.begin('quiet');
  expect(load.waitMs('loud', 8)).toBe(24);
});

test('threads beside are told of requests of who had little, until they are answered', () => {
  let atMs = 0;
  const told: string[] = [];
  const load = new TenantLoad({
    nowMs: () => atMs,
    beginBeside: tenant => {
      told.push(`${tenant} begins`);
      return tenant === 'alone' ? undefined : () => void told.push(`${tenant} ends`);
    },
  });
  atMs = 250;
  load.note(0, 'loud');
  load.begin('loud')();
  load.begin('alone')();
  const end = load.begin('quiet');
  expect(told).toEqual(['alone begins', 'quiet begins']);
  end();
  expect(told.at(-1)).toBe('quiet ends');
});

test('work of a thread beside counts, and is no piece that is waited for', () => {
  const { load, work, pass } = loadByHand();
  load.noteBeside(300, 'beside');
  expect([load.worksMuch('beside'), load.worksMuch('quiet')]).toEqual([true, false]);
  load.begin('quiet');
  expect(load.waitMs('beside', 8)).toBe(0);
  work('beside', 3);
  load.noteBeside(20, 'beside');
  expect(load.waitMs('beside', 8)).toBe(24);
  // Half of it counts a second later, and so on.
  pass(1000);
  expect(load.worksMuch('beside')).toBe(true);
  pass(1000);
  expect(load.worksMuch('beside')).toBe(false);
});
