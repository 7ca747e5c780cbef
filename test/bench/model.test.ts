/** The arithmetic of `npm run model`, each figure by hand from bench/model/figures.ts. */
import { describe, expect, test } from '@jest/globals';
import { QUERY_KINDS } from '../../bench/model/figures.ts';
import { type Load, modelOf, type SimulatedQuery } from '../../bench/model/model.ts';
import { loadOf } from '../../bench/model/options.ts';
import { reportOf } from '../../bench/model/report.ts';
import { SIMULATED } from '../../bench/model/simulated.ts';
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';

const LOAD: Load = {
  gbPerDay: 1,
  pushKb: 1000,
  queriesPerDay: 0,
  queryHours: 1,
  retentionDays: 30,
  tenants: 1,
  peak: 3,
};

/** Merges of a GB in pushes of 1 MB, and of 1 KB: full with 64 MiB of lines, or with 97 chunks. */
const MERGES = 1.08 * (1e9 / (64 * 1024 * 1024));
const SMALL_MERGES = 1.08 * (1_000_000 / 97);
const MERGE_SECONDS = 45 + 0.72 * MERGES;

const model = (given: Partial<Load>) => modelOf({ ...LOAD, ...given }, DEFAULT_PRICES);
const perDay = (given: Partial<Load>, name: string) =>
  model(given).requests.find(row => row.name === name)?.perDay;
const limit = (given: Partial<Load>, name: string) =>
  model(given).limits.find(row => row.name.startsWith(name))?.metAtGbPerDay;
const cost = (given: Partial<Load>, name: string) =>
  model(given).cost.find(row => row.name.startsWith(name))?.perMonth;

describe('requests of a gigabyte', () => {
  test.each<[name: string, large: number, small: number]>([
    // Pushes of 1 MB cost an object and a record of 2 units each. Pushes of 1 KB cost a record of 1 unit that
    // contains the chunk.
    ['pushes', 1000, 1_000_000],
    ['PUTs', 1000 + 1.1 * MERGES, 1.1 * SMALL_MERGES],
    ['GETs', 2100, 0],
    // Written and deleted; deleted in a transaction once more; 20 for each merge.
    ['write units', 1000 * (4 + 2) + 20 * MERGES, 1_000_000 * (2 + 1) + 20 * SMALL_MERGES],
    ['read units', 0, 0],
  ])('%s', (name, large, small) => {
    expect(perDay({}, name)).toBeCloseTo(large, 6);
    expect(perDay({ pushKb: 1 }, name)).toBeCloseTo(small, 3);
    expect(perDay({ gbPerDay: 7 }, name)).toBeCloseTo(7 * large, 6);
  });

  test('the peak is a multiple of the mean', () => {
    expect(model({ peak: 5 }).requests[0].atPeakPerSecond).toBeCloseTo((1000 / 86_400) * 5, 9);
  });
});

describe('a query', () => {
  const [one, ten] = SIMULATED['much to look at'];
  const much = (gb: number, given: Partial<Load> = {}) =>
    model({ gbPerDay: gb * 24, ...given }).queries.find(({ name }) => name === 'much to look at')!;

  test('takes the time of the simulated fleet, and interpolates between its points', () => {
    const { gb, ...figures } = one;
    expect(much(gb)).toEqual({ name: 'much to look at', ...figures });
    const between = much((one.gb + ten.gb) / 2);
    expect(between.seconds).toBeCloseTo((one.seconds + ten.seconds) / 2, 9);
    expect(between.gets).toBeCloseTo((one.gets + ten.gets) / 2, 9);
    expect(much(2, { tenants: 2 })).toEqual(much(1));
    expect(much(1 / 24, { queryHours: 24 })).toEqual(much(1));
  });

  test('grows in proportion beyond the last point, and takes a read at least', () => {
    const last = SIMULATED['much to look at'].at(-1)!;
    expect(much(3 * last.gb).workerSeconds).toBeCloseTo(3 * last.workerSeconds, 6);
    expect(much(1e-9)).toMatchObject({ tasks: 0 });
    expect(much(1e-9).gets).toBeCloseTo(1, 6);
  });

  test('costs the sum of its seconds, calls and requests', () => {
    const at = { gbPerDay: 24, queriesPerDay: 1000 };
    const [counts, rare, json] = QUERY_KINDS.map(({ name }) => SIMULATED[name][0]);
    const mean = (of: (point: SimulatedQuery) => number) =>
      0.6 * of(counts) + 0.3 * of(rare) + 0.1 * of(json);
    const calls = mean(point => point.calls);
    const query =
      (1.2 + mean(({ gets }) => gets) * 0.4 + 7 * 0.125 + calls * 0.2) / 1_000_000 +
      (mean(({ seconds }) => seconds) * (3008 / 1024) +
        mean(({ workerSeconds }) => workerSeconds) * (1769 / 1024)) *
        0.0000133334;
    expect(cost(at, 'queries')).toBeCloseTo(30 * 1000 * query, 6);
    expect(perDay(at, 'calls of Lambda')).toBeCloseTo(1000 * 24 + 1000 * (1 + calls), 6);
  });
});

describe('cost', () => {
  test('adds up the cost of a gigabyte in pushes of 1 MB', () => {
    const lambda = (1000 * 0.05 + 15) * (1769 / 1024) * 0.0000133334;
    const units = 4000 * 0.625 + 1000 * (5 + 0.4) + 1000 * 1.2;
    expect(cost({}, 'taking in')).toBeCloseTo(30 * (units / 1_000_000 + lambda), 6);
    const merging = 1100 * 0.4 + MERGES * 1.1 * 5 + (2000 + MERGES * 20) * 0.625;
    const merger = MERGE_SECONDS * (3008 / 1024) * 0.0000133334;
    expect(cost({}, 'merging')).toBeCloseTo(30 * (merging / 1_000_000 + merger), 6);
    expect(cost({}, 'keeping')).toBeCloseTo(30 * 0.16 * 0.023, 9);
    const { cost: lines, costPerMonth } = model({});
    expect(costPerMonth).toBeCloseTo(
      lines.reduce((sum, { perMonth }) => sum + perMonth, 0),
      9,
    );
  });
});

describe('limits', () => {
  test.each<[name: string, given: Partial<Load>, gbPerDay: number]>([
    // 57 s of a function for a GB, and 32 of them have 86,400 s a day each.
    ['merging', {}, (32 * 86_400) / MERGE_SECONDS],
    ['merging', { tenants: 10 }, (320 * 86_400) / MERGE_SECONDS],
    ['DynamoDB, partitions', { pushKb: 1 }, (256_000 * 86_400) / 3 / (1_000_000 * (3 + (1.08 * 20) / 97))],
    [
      'DynamoDB, writes of the table',
      { pushKb: 1, tenants: 9 },
      (40_000 * 86_400) / 3 / (1_000_000 * (3 + (1.08 * 20) / 97)),
    ],
    ['API Gateway', { pushKb: 10, peak: 1 }, (10_000 * 86_400) / 100_000],
    ['S3, PUTs', { pushKb: 100, peak: 1 }, (256 * 3500 * 86_400) / 10_000],
    ['Lambda', { peak: 1 }, 86_400_000 / (1000 * 0.068 + MERGE_SECONDS)],
  ])('%s, %j', (name, given, gbPerDay) => {
    expect(limit(given, name)).toBeCloseTo(gbPerDay, 1);
  });

  test('queries have a part that does not grow in proportion', () => {
    const queriesPerDay = 86_400 * 9_000;
    expect(limit({ queriesPerDay, peak: 1 }, 'API Gateway')).toBeCloseTo((1000 * 86_400) / 1000, 0);
  });

  test('limits are listed in the order in which they are reached, and exceeded ones are marked', () => {
    const { limits } = model({ gbPerDay: 60_000 });
    expect(limits[0].name).toBe('merging of a day of a tenant');
    expect(limits.map(({ metAtGbPerDay }) => metAtGbPerDay)).toEqual(
      limits.map(({ metAtGbPerDay }) => metAtGbPerDay).sort((a, b) => a - b),
    );
    const text = reportOf({ ...LOAD, gbPerDay: 60_000 }, model({ gbPerDay: 60_000 }), 'dollars');
    expect(text.split('\n').filter(line => line.includes('EXCEEDED'))).toHaveLength(1);
    expect(text).toMatch(/^merging of a day of a tenant .*[\d,]+ s a day +2,764,800 +48,859 +EXCEEDED$/m);
  });
});

describe('questions of the model', () => {
  test('reads flags, and has defaults for the others', () => {
    expect(
      loadOf(['--gb-per-day', '0.5', '--push-kb=4', '--queries-per-day', '0', '--tenants', '3']),
    ).toEqual({
      ...LOAD,
      gbPerDay: 0.5,
      pushKb: 4,
      tenants: 3,
    });
    expect(loadOf([])).toEqual({ ...LOAD, gbPerDay: 100, queriesPerDay: 10_000 });
  });

  test.each([
    [['--gb-per-day', 'much'], '--gb-per-day is a number above 0, not much'],
    [['--gb-per-day', '0'], '--gb-per-day is a number above 0, not 0'],
    [['--push-kb', ''], '--push-kb is a number above 0'],
    [['--tenants', '0.5'], '--tenants is a number of at least 1, not 0.5'],
    [['--gigabytes', '1'], 'gigabytes'],
  ])('%j', (args, message) => {
    expect(() => loadOf(args)).toThrow(message);
  });

  test('a push that does not fit into a request', () => {
    expect(() => model({ pushKb: 14_418 })).toThrow('at most 14417 KB of lines');
    expect(() => model({ pushKb: 14_417 })).not.toThrow();
  });
});
