import { describe, expect, test } from '@jest/globals';
import { parseGivenTime } from '../../bin/cli/given-time.ts';
import { useTimeZone } from '../../bin/cli/time-zone.ts';
import { NS_PER_SECOND as S } from '../../shared/base/model/time-units.ts';

const NOW = 1_767_607_200_000_000_000n; // 2026-01-05T10:00:00Z

describe('times on the command line', () => {
  test.each<[string, bigint]>([
    ['now', NOW],
    ['now-2h', NOW - 7200n * S],
    ['now-1h30m', NOW - 5400n * S],
    ['now+5m', NOW + 300n * S],
    ['2026-01-05', NOW - 36_000n * S],
    ['2026-01-05 10:00', NOW],
    ['2026-01-05T10:00', NOW],
    ['2026-01-05T10:00:01.000000009', NOW + S + 9n],
    ['1969-12-31 23:59:59.5', -S / 2n],
    ['2026-01-05T10:00:00Z', NOW],
    ['2026-01-05 12:00+02:00', NOW],
    ['1767607200', NOW],
    ['1767607200.25', NOW + S / 4n],
    ['1767607200000000001', NOW + 1n],
  ])('%s in UTC', (text, want) => {
    useTimeZone('UTC');
    expect(parseGivenTime(text, NOW)).toBe(want);
  });

  test.each([
    '',
    'soon',
    'now-',
    'now-x',
    'now2h',
    '2026-02-30',
    '2026-01-05 25:00',
    '2026-1-5',
    '1e9',
    '5 Jan 2026',
  ])('%j is not a time', text => {
    expect(() => parseGivenTime(text, NOW)).toThrow(Error);
  });
});
