/** Cost of the write service, by hand from bench/model/figures.ts. */
import { expect, test } from '@jest/globals';
import { WRITE_SERVICE } from '../../bench/model/figures.ts';
import {
  balancerUnits,
  breakEven,
  queryCost,
  serviceCost,
  writeCost,
} from '../../bench/model/write-service.ts';
import { TASK } from '../../lib/write-task.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { DEFAULT_GROUP_COMMIT } from '../../shared/write/ingest/group-commit.ts';

/** 1,000 agents that push 10 KB each second. */
const FLEET = { gbPerDay: 864, pushKb: 10, tenants: 1, queriesPerDay: 10_000 };

test('a fleet of small agents costs less than $0.03 a GB, and more than 30 times as much with functions', () => {
  const queries = queryCost({ ...FLEET, queryHours: 1 });
  expect((writeCost(FLEET, 'address') + queries) / 864).toBeLessThan(0.03);
  expect(writeCost(FLEET, 'functions')).toBeGreaterThan(30 * writeCost(FLEET, 'address'));
});

test('parts of the cost of a write service equal those computed by hand', () => {
  const { tasks, kbOfGroup, containers, balancer, gateway, storing } = serviceCost(FLEET, true);
  expect(tasks).toBe(2);
  // Two containers have 500 pushes a second each, and 125 come while one waits.
  expect(kbOfGroup).toBeCloseTo(1260, 6);
  expect(containers).toBeCloseTo(24 * (2 * (0.03238 + 2 * 0.00356) + 4 * 0.005), 6);
  const forwarded = (1e4 * (100_000 + 500)) / 24 / 1e9;
  expect(balancer).toBeCloseTo(24 * (0.0225 + (3.6e6 * 3.7e-6 + forwarded) * 0.008), 6);
  expect(gateway).toBe(0);
  const objects = 864e6 / 1260;
  expect(storing).toBeCloseTo((objects * (5.4 + 4 * 0.625)) / 1e6, 6);
  expect(serviceCost(FLEET, false).gateway).toBeCloseTo(86.4, 6);
});

test('the load balancer costs its largest use', () => {
  const { newConnections, activeConnections, rules } = balancerUnits({
    pushes: 86_400 * 6000,
    pushBytes: 1,
    forwarded: 0,
    isAddress: true,
  });
  // 6,000 agents that open a connection each minute: 100 a second.
  expect([newConnections, activeConnections, rules]).toEqual([4, 2, 0]);
  const tiny = serviceCost({ gbPerDay: 5.184e-1, pushKb: 1e-3, tenants: 1, queriesPerDay: 0 }, true);
  expect(tiny.balancer).toBeCloseTo(24 * (0.0225 + 0.008 * 10.8), 2);
});

test('more load takes more containers; groups have a largest size', () => {
  const large = serviceCost({ ...FLEET, gbPerDay: 8640 }, true);
  expect(large.tasks).toBe(16);
  expect(
    serviceCost({ gbPerDay: 1e6, pushKb: 1000, tenants: 1, queriesPerDay: 0 }, true).kbOfGroup,
  ).toBeCloseTo(4194.304, 6);
});

test.each([1, 10, 100])(
  'pushes of %i KB: functions are cheaper below the break-even, and the service above',
  pushKb => {
    const even = breakEven(pushKb, 'address');
    for (const [factor, isCheaper] of [
      [0.9, false],
      [1.1, true],
    ] as const) {
      const load = { gbPerDay: even * factor, pushKb, tenants: 1, queriesPerDay: 0 };
      expect(writeCost(load, 'address') < writeCost(load, 'functions')).toBe(isCheaper);
    }
  },
);

test('figures are those of the program and of the stack', () => {
  expect(WRITE_SERVICE.waitSeconds).toBe(DEFAULT_CONFIG.logboom.writeTierWaitMs / 1000);
  expect(WRITE_SERVICE.maxGroupBytes).toBe(DEFAULT_GROUP_COMMIT.maxGroupBytes);
  expect([WRITE_SERVICE.taskCpus * 1024, WRITE_SERVICE.taskGb * 1024]).toEqual([TASK.cpu, TASK.memoryMb]);
  expect(WRITE_SERVICE.cpuTarget * 100).toBe(TASK.cpuTargetPercent);
});
