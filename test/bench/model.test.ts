/** The arithmetic of `npm run model`, each figure by hand from bench/model/figures.ts. */
import { describe, expect, test } from '@jest/globals';
import { type Load, modelOf } from '../../bench/model/model.ts';
import { loadOf } from '../../bench/model/options.ts';
import { reportOf } from '../../bench/model/report.ts';
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

const model = (given: Partial<Load>) => modelOf({ ...LOAD, ...given }, DEFAULT_PRICES);
const perDay = (given: Partial<Load>, name: string) =>
  model(given).requests.find(row => row.name === name)?.perDay;
const limit = (given: Partial<Load>, name: string) =>
  model(given).limits.find(row => row.name.startsWith(name))?.metAtGbPerDay;
const cost = (given: Partial<Load>, name: string) =>
  model(given).cost.find(row => row.name.startsWith(name))?.perMonth;

describe('requests of a gigabyte', () => {
  test.each<[name: string, large: number, small: number]>([
    // Of 1 MB each: an object and a record of 2 units. Of 1 KB each: a record of 1 unit that holds the chunk.
    ['pushes', 1000, 1_000_000],
    ['PUTs', 1000 + 10, 10],
    ['GETs', 2400, 0],
    // Written and deleted; deleted in a transaction once more; 15 for each 97 chunks.
    ['write units', 1000 * (4 + 2 + 15 / 97), 1_000_000 * (2 + 1 + 15 / 97)],
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
  // 512 MB an hour, as the suite has them.
  const gbPerDay = 0.512 * 24;

  test.each([
    ['counts', 1, 0, 0.03 + 0.03 + 0.018],
    ['rare text', 14, 0, 0.03 + 2 * 0.03 + 0.01],
    // 172 ms are 3 parts of at least 50; each reads 94 ranges, 8 at once.
    ['much to look at', 281, 3, 0.03 + 0.02 + 12 * 0.03 + 0.172 / 3],
  ])('%s', (name, gets, tasks, seconds) => {
    const found = model({ gbPerDay }).queries.find(query => query.name === name);
    expect(found).toMatchObject({ gets, tasks });
    expect(found?.seconds).toBeCloseTo(seconds, 9);
  });

  test('has no more parts than a day has, and is smaller where there are more tenants', () => {
    const [, , much] = model({ gbPerDay: 100 * gbPerDay }).queries;
    expect(much).toMatchObject({ tasks: 200, gets: 28_100 });
    expect(model({ gbPerDay: 100 * gbPerDay, tenants: 100 }).queries).toEqual(model({ gbPerDay }).queries);
  });

  test('costs what its seconds, calls and requests cost', () => {
    const at = { gbPerDay, queriesPerDay: 1000 };
    const gets = 0.6 + 0.3 * 14 + 0.1 * 281;
    const much = 0.03 + 0.02 + 0.36 + 0.172 / 3;
    const seconds = 0.6 * 0.078 + 0.3 * 0.1 + 0.1 * much;
    const workers = 0.1 * 3 * (much - 0.03);
    const one =
      (1.2 + gets * 0.4 + 7 * 0.125 + 0.1 * 3 * 0.2) / 1_000_000 +
      (seconds * (3008 / 1024) + workers * (1769 / 1024)) * 0.0000133334;
    expect(cost(at, 'queries')).toBeCloseTo(30 * 1000 * one, 6);
    expect(perDay(at, 'calls of Lambda')).toBeCloseTo(1000 * gbPerDay + 1000 * 1.3, 6);
  });
});

describe('cost', () => {
  test('a gigabyte in pushes of 1 MB', () => {
    const lambda = (1000 * 0.05 + 15) * (1769 / 1024) * 0.0000133334;
    const units = 4000 * 0.625 + 1000 * (5 + 0.4) + 1000 * 1.2;
    expect(cost({}, 'taking in')).toBeCloseTo(30 * (units / 1_000_000 + lambda), 6);
    const merging = 1400 * 0.4 + 10 * 5 + (2000 + (1000 / 97) * 15) * 0.625;
    const merger = 80 * (3008 / 1024) * 0.0000133334;
    expect(cost({}, 'merging')).toBeCloseTo(30 * (merging / 1_000_000 + merger), 6);
    expect(cost({}, 'keeping')).toBeCloseTo(30 * 0.2 * 0.023, 9);
    const { cost: lines, costPerMonth } = model({});
    expect(costPerMonth).toBeCloseTo(
      lines.reduce((sum, { perMonth }) => sum + perMonth, 0),
      9,
    );
  });
});

describe('limits', () => {
  test.each<[name: string, given: Partial<Load>, gbPerDay: number]>([
    // 80 s of a processor for a GB, and a day has 86,400.
    ['merging', {}, 1080],
    ['merging', { tenants: 10 }, 10_800],
    ['DynamoDB, partitions', { pushKb: 1 }, (4000 * 86_400) / 3 / (1_000_000 * (3 + 15 / 97))],
    [
      'DynamoDB, writes of the table',
      { pushKb: 1, tenants: 9 },
      (40_000 * 86_400) / 3 / (1_000_000 * (3 + 15 / 97)),
    ],
    ['API Gateway', { pushKb: 10, peak: 1 }, (10_000 * 86_400) / 100_000],
    ['S3, PUTs', { pushKb: 100, peak: 1 }, (3500 * 86_400) / 10_000],
    ['Lambda', { peak: 1 }, 86_400_000 / (1000 * 0.068 + 80)],
  ])('%s, %j', (name, given, gbPerDay) => {
    expect(limit(given, name)).toBeCloseTo(gbPerDay, 1);
  });

  test('queries have a part that does not grow in proportion', () => {
    const queriesPerDay = 86_400 * 9_000;
    expect(limit({ queriesPerDay, peak: 1 }, 'API Gateway')).toBeCloseTo((1000 * 86_400) / 1000, 0);
  });

  test('the first one comes first; what is exceeded already says so', () => {
    const { limits } = model({ gbPerDay: 2000 });
    expect(limits[0].name).toBe('merging of a day of a tenant');
    expect(limits.map(({ metAtGbPerDay }) => metAtGbPerDay)).toEqual(
      limits.map(({ metAtGbPerDay }) => metAtGbPerDay).sort((a, b) => a - b),
    );
    const text = reportOf({ ...LOAD, gbPerDay: 2000 }, model({ gbPerDay: 2000 }), 'dollars');
    expect(text.split('\n').filter(line => line.includes('EXCEEDED'))).toHaveLength(1);
    expect(text).toMatch(/^merging of a day of a tenant .*160,000 s a day +86,400 +1,080 +EXCEEDED$/m);
  });
});

describe('what is asked', () => {
  test('flags and defaults', () => {
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
