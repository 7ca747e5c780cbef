/** When groups are due. */
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { oldKeys } from '../../shared/server/rules/carry-over.ts';
import {
  dueInstants,
  MAX_CATCH_UP_NS,
  MAX_CAUGHT_UP,
  scheduleOf,
} from '../../shared/server/rules/instants.ts';

const NOW = 1_767_225_600n * NS_PER_SECOND;
const MINUTELY = { intervalNs: 60n * NS_PER_SECOND, offsetNs: 7n * NS_PER_SECOND };
const seconds = (instants: readonly bigint[]) => instants.map(ns => Number((ns - NOW) / NS_PER_SECOND));

test.each([
  ['never evaluated: the newest instant', 0n, [-53], 0],
  ['evaluated: nothing', NOW - 53n * NS_PER_SECOND, [], 0],
  ['one interval later', NOW - 113n * NS_PER_SECOND, [-53], 0],
  ['some are caught up', NOW - 233n * NS_PER_SECOND, [-173, -113, -53], 0],
  ['an instant that is none any more, because the interval changed', NOW - 60n * NS_PER_SECOND, [-53], 0],
  [
    'many are not',
    NOW - (53n + 60n * 25n) * NS_PER_SECOND,
    [-593, -533, -473, -413, -353, -293, -233, -173, -113, -53],
    15,
  ],
  ['a clock that was set back', NOW + 600n * NS_PER_SECOND, [], 0],
])('%s', (_, lastNs, wanted, missed) => {
  const due = dueInstants(MINUTELY, lastNs, NOW);
  expect([seconds(due.instants), due.missed]).toEqual([wanted, missed]);
  expect(due.nextNs).toBe(NOW + 7n * NS_PER_SECOND);
});

test('catches up only the newest of long intervals after a day', () => {
  const hourly = { intervalNs: 3600n * NS_PER_SECOND, offsetNs: 0n };
  expect(dueInstants(hourly, NOW - 86_400n * NS_PER_SECOND, NOW)).toMatchObject({
    instants: [NOW],
    missed: 23,
  });
  const daily = { intervalNs: 86_400n * NS_PER_SECOND, offsetNs: 0n };
  expect(dueInstants(daily, NOW - 86_400n * NS_PER_SECOND, NOW)).toMatchObject({
    instants: [NOW],
    missed: 0,
  });
});

test('every instant is due once, or missed and reported, for any times of the checks', () => {
  const looks = fc.array(fc.bigInt({ min: 0n, max: 3_000n }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(
      looks,
      fc.bigInt({ min: 1n, max: 90n }),
      fc.bigInt({ min: 0n, max: 90n }),
      (steps, every, moved) => {
        const schedule = { intervalNs: every * NS_PER_SECOND, offsetNs: (moved % every) * NS_PER_SECOND };
        let nowNs = NOW;
        let [lastNs] = dueInstants(schedule, 0n, nowNs).instants;
        const startNs = lastNs;
        let count = 0;
        for (const step of steps) {
          nowNs += step * NS_PER_SECOND;
          const { instants, missed, nextNs } = dueInstants(schedule, lastNs, nowNs);
          expect(instants.length).toBeLessThanOrEqual(MAX_CAUGHT_UP);
          expect(nextNs > nowNs).toBe(true);
          for (const [i, timeNs] of instants.entries()) {
            expect(timeNs - lastNs).toBe(
              i === 0 ? BigInt(missed + 1) * schedule.intervalNs : schedule.intervalNs,
            );
            expect(timeNs <= nowNs && nowNs - timeNs <= MAX_CATCH_UP_NS).toBe(true);
            lastNs = timeNs;
          }
          count += instants.length + missed;
        }
        expect(BigInt(count) * schedule.intervalNs).toBe(lastNs - startNs);
      },
    ),
    { numRuns: 200 },
  );
});

test('offsets spread groups, and hang on their names alone', () => {
  const offsets = Array.from(
    { length: 300 },
    (_, i) => scheduleOf(['t', 'space', `g${i}`], 60n * NS_PER_SECOND).offsetNs,
  );
  expect(offsets.every(ns => ns >= 0n && ns < 60n * NS_PER_SECOND && ns % 1_000_000n === 0n)).toBe(true);
  const perSixth = [0, 0, 0, 0, 0, 0];
  for (const ns of offsets) perSixth[Number(ns / (10n * NS_PER_SECOND))]++;
  expect(Math.min(...perSixth)).toBeGreaterThan(20);
  expect(scheduleOf(['t', 'space', 'g1'], 60n * NS_PER_SECOND).offsetNs).toBe(offsets[1]);
  expect(scheduleOf(['a', 'b', 'c'], 1n).intervalNs).toBe(NS_PER_SECOND);
});

test('rules that moved in their group are found again', () => {
  const rule = (record: string) => ({ kind: 'recording', record, expr: '', labels: {} }) as const;
  const keys = ['0/record/a', '1/record/b', '2/record/b', '3/record/c'];
  const found = (names: string[]) => oldKeys(names.map(rule), keys);
  expect(found(['a', 'b', 'b', 'c'])).toEqual(keys);
  expect(found(['new', 'a', 'b', 'b'])).toEqual([undefined, '0/record/a', '2/record/b', '1/record/b']);
  expect(found(['c', 'b', 'b', 'b'])).toEqual(['3/record/c', '1/record/b', '2/record/b', undefined]);
});
