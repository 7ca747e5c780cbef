import { expect, test } from '@jest/globals';
import { labelsOf } from '../../shared/base/model/labels.ts';
import type { StreamRetention } from '../../shared/base/model/limits.ts';
import { retentionOfDay } from '../../shared/upkeep/retention/day-retention.ts';
import { retentionOf } from '../../shared/upkeep/retention/retention.ts';

const HOUR = 3_600_000_000_000n;
const DAY = 24n * HOUR;
const rule = (selector: string, priority: number, days: bigint): StreamRetention => ({
  selector,
  priority,
  periodNs: days * DAY,
});
const days = (
  retentionPeriodNs: bigint,
  retentionStream: StreamRetention[],
  labels: Record<string, string>,
) => retentionOf({ retentionPeriodNs, retentionStream }, true).periodNsOf(labelsOf(labels)) / DAY;

const TABLE: [
  what: string,
  period: bigint,
  rules: StreamRetention[],
  labels: Record<string, string>,
  days: bigint,
][] = [
  ['no rule: the tenant', 7n, [], { app: 'a' }, 7n],
  ['a rule that fits, shorter', 7n, [rule('{app="a"}', 0, 2n)], { app: 'a' }, 2n],
  ['a rule that fits, longer', 7n, [rule('{app="a"}', 0, 30n)], { app: 'a' }, 30n],
  ['a rule that does not fit', 7n, [rule('{app="b"}', 9, 2n)], { app: 'a' }, 7n],
  ['the highest priority', 7n, [rule('{app="a"}', 1, 2n), rule('{app=~".+"}', 2, 3n)], { app: 'a' }, 3n],
  ['whatever the order', 7n, [rule('{app=~".+"}', 2, 3n), rule('{app="a"}', 1, 2n)], { app: 'a' }, 3n],
  ['the first of equal ones', 7n, [rule('{app="a"}', 1, 5n), rule('{app=~".+"}', 1, 2n)], { app: 'a' }, 5n],
  ['the highest that fits', 7n, [rule('{app="b"}', 9, 5n), rule('{app="a"}', 1, 2n)], { app: 'a' }, 2n],
  ['a rule beside a tenant that keeps', 0n, [rule('{app="a"}', 0, 2n)], { app: 'a' }, 2n],
  ['kept for good beside a rule', 0n, [rule('{app="a"}', 0, 2n)], { app: 'b' }, 0n],
];

test.each(TABLE)('%s', (_, period, rules, labels, expected) => {
  expect(days(period * DAY, rules, labels)).toBe(expected);
});

test('longest and shortest, and off', () => {
  const of = (period: bigint, rules: StreamRetention[], enabled = true) => {
    const { isOff, longestNs, shortestNs } = retentionOf(
      { retentionPeriodNs: period * DAY, retentionStream: rules },
      enabled,
    );
    return [isOff, longestNs / DAY, shortestNs / DAY];
  };
  expect(of(0n, [])).toEqual([true, 0n, 0n]);
  expect(of(7n, [], false)).toEqual([true, 0n, 0n]);
  expect(of(7n, [])).toEqual([false, 7n, 7n]);
  expect(of(7n, [rule('{a="1"}', 0, 30n), rule('{a="2"}', 0, 1n)])).toEqual([false, 30n, 1n]);
  expect(of(0n, [rule('{a="1"}', 0, 30n)])).toEqual([false, 0n, 30n]);
});

test('what is kept of a day', () => {
  const retention = retentionOf(
    { retentionPeriodNs: 2n * DAY, retentionStream: [rule('{app="a"}', 0, 1n)] },
    true,
  );
  const nowNs = 100n * DAY + 6n * HOUR;
  const a = labelsOf({ app: 'a' });
  const b = labelsOf({ app: 'b' });
  const at = (day: number) => retentionOfDay(retention, nowNs, day);
  expect(at(100)).toBeUndefined();
  expect([at(99)!.keptFrom(a), at(99)!.keptFrom(b), at(99)!.leastKeptFrom]).toEqual([
    Number(6n * HOUR),
    0,
    0,
  ]);
  expect([at(98)!.keptFrom(a), at(98)!.keptFrom(b)]).toEqual([Number(30n * HOUR), Number(6n * HOUR)]);
  expect(at(98)!.leastKeptFrom).toBe(Number(6n * HOUR));
  expect(at(90)!.leastKeptFrom).toBeGreaterThan(Number(DAY));
});

test('the limits of a tenant are compiled once', () => {
  const limits = { retentionPeriodNs: DAY, retentionStream: [] };
  expect(retentionOf(limits, true)).toBe(retentionOf(limits, true));
});
