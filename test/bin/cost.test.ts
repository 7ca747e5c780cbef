import { describe, expect, test } from '@jest/globals';
import { QUERY, QUERY_KINDS } from '../../bench/model/figures.ts';
import { DEFAULT_STACK, idleMonth, sumOf } from '../../bench/model/idle.ts';
import { modelOf } from '../../bench/model/model.ts';
import { estimateCost, type Load, QUERY_OF_HOUR } from '../../bin/cli/cost-estimate.ts';
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const LOAD: Load = {
  bytesPerDay: 1e9,
  pushBytes: 1000,
  retentionDays: 30,
  storedShare: 0.1846,
  queriesPerDay: 0,
  querySeconds: 1,
  queryGets: 0,
  queryRecords: 0,
};
const cents = (load: Partial<Load>) =>
  estimateCost({ ...LOAD, ...load }, DEFAULT_PRICES).map(({ perDay }) => Number(perDay.toFixed(2)));

describe('cost estimate', () => {
  test('has the time and the reads of a query that the simulated fleet has', () => {
    const load = { gbPerDay: 10, pushKb: 1000, queriesPerDay: 1, queryHours: 1 };
    const { queries } = modelOf({ ...load, retentionDays: 30, tenants: 1, peak: 1 }, DEFAULT_PRICES);
    let [seconds, gets] = [0, 0];
    for (const [i, { share }] of QUERY_KINDS.entries()) {
      const ofWorkers = (queries[i].workerSeconds * QUERY.workerMemoryGb) / QUERY.memoryGb;
      seconds += share * (queries[i].seconds + ofWorkers);
      gets += share * queries[i].gets;
    }
    expect(QUERY_OF_HOUR).toEqual({ seconds: Number(seconds.toFixed(1)), gets: Math.round(gets) });
  });

  // docs/dev/cost-model.md#a-gigabyte-by-batch-size
  test.each([
    [1000, 3.6],
    [4000, 1.21],
    [10_000, 0.74],
    [20_000, 0.45],
    [40_000, 0.23],
    [100_000, 0.09],
    [1_000_000, 0.01],
  ])('estimates a gigabyte in pushes of %i bytes', (pushBytes, want) => {
    expect(Math.abs(cents({ pushBytes })[0] - want)).toBeLessThan(0.015);
  });

  test('estimates an idle month as the cost page does, and the last line is the sum', () => {
    const lines = estimateCost({ ...LOAD, queriesPerDay: 1000, queryGets: 50 }, DEFAULT_PRICES);
    expect(lines[4].perMonth).toBeCloseTo(sumOf(idleMonth(DEFAULT_STACK)), 4);
    const sum = lines.slice(0, 5).reduce((total, { perDay }) => total + perDay, 0);
    expect(lines[5].perDay).toBeCloseTo(sum, 12);
    expect(lines[5].perMonth).toBeCloseTo(30 * sum, 10);
    // 0.0012 for gateway and function, 0.039 for a second, 0.02 for 50 reads, each for 1,000 queries.
    expect(lines[3].perDay).toBeCloseTo(0.0012 + 0.03917 + 0.02, 3);
    // 1 GB a day for 30 days at 0.023, compressed.
    expect(lines[2].perMonth).toBeCloseTo(30 * 0.1846 * 0.023, 6);
  });

  test('has the cost of merging that the model has', () => {
    const load = { gbPerDay: 1, queriesPerDay: 0, queryHours: 1, retentionDays: 30, tenants: 1, peak: 1 };
    for (const pushKb of [10, 100, 1000]) {
      const merging = modelOf({ ...load, pushKb }, DEFAULT_PRICES).cost.find(({ name }) =>
        /merging/.test(name),
      )!;
      const [, line] = estimateCost({ ...LOAD, pushBytes: pushKb * 1000 }, DEFAULT_PRICES);
      expect([line.what, line.perMonth]).toEqual(['merging', expect.closeTo(merging.perMonth, 9)]);
    }
  });
});

test('is printed by logboom cost', async () => {
  const args = ['cost', '--gb-per-day', '1', '--push-size', '1KB', '--queries-per-day', '0'];
  const { code, stdout } = await logboom([...args, '--output', 'csv']);
  expect(code).toBe(0);
  const [head, first, ...others] = stdout.trimEnd().split('\n');
  expect(head).toBe('what,USD per day,USD per month,USD per year');
  expect(first).toMatch(/^ingest,3\.60/);
  expect(others).toHaveLength(5);
  expect(await refusedBy(['cost', '--gb-per-day', 'many'])).toContain('Expected a number from 0.');
  expect(await refusedBy(['cost', '--push-size', '0'])).toContain('A size is written like 4KB');
});
