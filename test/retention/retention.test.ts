import { expect, test } from '@jest/globals';
import { labelsOf } from '../../shared/base/model/labels.ts';
import type { StreamRetention } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { retentionOfDay } from '../../shared/upkeep/retention/day-retention.ts';
import { retentionOf } from '../../shared/upkeep/retention/retention.ts';

const rule = (selector: string, priority: number, days: bigint): StreamRetention => ({
  selector,
  priority,
  periodNs: days * NS_PER_DAY,
});
const days = (
  retentionPeriodNs: bigint,
  retentionStream: StreamRetention[],
  labels: Record<string, string>,
) => retentionOf({ retentionPeriodNs, retentionStream }, true).periodNsOf(labelsOf(labels)) / NS_PER_DAY;

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
  expect(days(period * NS_PER_DAY, rules, labels)).toBe(expected);
});

test('has a longest and a shortest period, or is off', () => {
  const of = (period: bigint, rules: StreamRetention[], enabled = true) => {
    const { isOff, longestNs, shortestNs } = retentionOf(
      { retentionPeriodNs: period * NS_PER_DAY, retentionStream: rules },
      enabled,
    );
    return [isOff, longestNs / NS_PER_DAY, shortestNs / NS_PER_DAY];
  };
  expect(of(0n, [])).toEqual([true, 0n, 0n]);
  expect(of(7n, [], false)).toEqual([true, 0n, 0n]);
  expect(of(7n, [])).toEqual([false, 7n, 7n]);
  expect(of(7n, [rule('{a="1"}', 0, 30n), rule('{a="2"}', 0, 1n)])).toEqual([false, 30n, 1n]);
  expect(of(0n, [rule('{a="1"}', 0, 30n)])).toEqual([false, 0n, 30n]);
});

test('retains the entries of a day by their rules', () => {
  const retention = retentionOf(
    { retentionPeriodNs: 2n * NS_PER_DAY, retentionStream: [rule('{app="a"}', 0, 1n)] },
    true,
  );
  const nowNs = 100n * NS_PER_DAY + 6n * NS_PER_HOUR;
  const a = labelsOf({ app: 'a' });
  const b = labelsOf({ app: 'b' });
  const at = (day: number) => retentionOfDay(retention, nowNs, day);
  expect(at(100)).toBeUndefined();
  expect([at(99)!.keptFrom(a), at(99)!.keptFrom(b), at(99)!.leastKeptFrom]).toEqual([
    Number(6n * NS_PER_HOUR),
    0,
    0,
  ]);
  expect([at(98)!.keptFrom(a), at(98)!.keptFrom(b)]).toEqual([
    Number(30n * NS_PER_HOUR),
    Number(6n * NS_PER_HOUR),
  ]);
  expect(at(98)!.leastKeptFrom).toBe(Number(6n * NS_PER_HOUR));
  expect(at(90)!.leastKeptFrom).toBeGreaterThan(Number(NS_PER_DAY));
});

test('the limits of a tenant are compiled once', () => {
  const limits = { retentionPeriodNs: NS_PER_DAY, retentionStream: [] };
  expect(retentionOf(limits, true)).toBe(retentionOf(limits, true));
});
