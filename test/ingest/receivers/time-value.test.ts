import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { addNanoseconds, readTime } from '../../../shared/write/ingest/receivers/time-value.ts';
import { timestampOf } from '../../../shared/write/ingest/timestamp.ts';

const NOON = 1_795_262_400n;

function nsOf(text: string): bigint | undefined {
  // Neighbors that would change the answer if they were read.
  const bytes = Buffer.from(`9${text}9`);
  const into = { day: 0, timeOfDay: 0 };
  if (!readTime(into, bytes, 1, bytes.length - 1)) return undefined;
  expect(into.timeOfDay).toBeLessThan(Number(NS_PER_DAY));
  expect(into.timeOfDay).toBeGreaterThanOrEqual(0);
  return BigInt(into.day) * NS_PER_DAY + BigInt(into.timeOfDay);
}

describe('readTime', () => {
  // [text, ns]
  const accepted: [string, bigint][] = [
    ['2026-11-21T12:00:00Z', NOON * 1_000_000_000n],
    ['2026-11-21t12:00:00z', NOON * 1_000_000_000n],
    ['2026-11-21 12:00:00', NOON * 1_000_000_000n],
    ['2026-11-21\t12:00:00', NOON * 1_000_000_000n],
    ['2026-11-21T12:00', NOON * 1_000_000_000n],
    ['2026-11-21', (NOON - 43_200n) * 1_000_000_000n],
    ['2026-11-21T12:00:00.5Z', NOON * 1_000_000_000n + 500_000_000n],
    ['2026-11-21T12:00:00,123456789Z', NOON * 1_000_000_000n + 123_456_789n],
    ['2026-11-21T12:00:00.1234567899Z', NOON * 1_000_000_000n + 123_456_789n],
    ['2026-11-21T13:30:00+01:30', NOON * 1_000_000_000n],
    ['2026-11-21T13:30:00+0130', NOON * 1_000_000_000n],
    ['2026-11-21T04:00:00.000-08', NOON * 1_000_000_000n],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000_000_000n],
    ['1795262400', NOON * 1_000_000_000n],
    ['1795262400.25', NOON * 1_000_000_000n + 250_000_000n],
    ['1795262400.', NOON * 1_000_000_000n],
    ['1795262400123', NOON * 1_000_000_000n + 123_000_000n],
    ['1795262400123.5', NOON * 1_000_000_000n + 123_500_000n],
    ['1795262400123456', NOON * 1_000_000_000n + 123_456_000n],
    ['1795262400123456789', NOON * 1_000_000_000n + 123_456_789n],
    ['1.7952624e9', NOON * 1_000_000_000n],
    ['1.7952624E+12', NOON * 1_000_000_000n],
    ['99999999999', 99_999_999_999_000_000_000n],
    ['1', 1_000_000_000n],
  ];
  test.each(accepted)('%s', (text, want) => {
    expect(nsOf(text)).toBe(want);
  });

  test.each([
    '',
    'now',
    '-1',
    '1e99',
    '1e-3',
    '12345678901234567890',
    '1.2.3',
    '2026-11-2',
    '2026-13-01',
    '2026-00-01',
    '2026-02-29',
    '2026-11-31T00:00:00Z',
    '2026-11-21T',
    '2026-11-21T12',
    '2026-11-21T24:00:00Z',
    '2026-11-21T12:60:00Z',
    '2026-11-21T12:00:60Z',
    '2026-11-21T12:00:00.Z',
    '2026-11-21T12:00:00ZZ',
    '2026-11-21T12:00:00+1',
    '2026-11-21T12:00:00+01:60',
    '2026-11-21X12:00:00Z',
    '2026/11/21',
  ])('refuses %j', text => {
    expect(nsOf(text)).toBeUndefined();
  });

  test('parses the output of Date in any zone', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-30'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, fc.integer({ min: -23 * 60, max: 23 * 60 }), (at, minutes) => {
        const shifted = new Date(at.getTime() + minutes * 60_000);
        fc.pre(shifted.getUTCFullYear() >= 0 && shifted.getUTCFullYear() <= 9999);
        const hour = String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0');
        const zone = `${minutes < 0 ? '-' : '+'}${hour}:${String(Math.abs(minutes) % 60).padStart(2, '0')}`;
        expect(nsOf(shifted.toISOString().replace('Z', zone))).toBe(BigInt(at.getTime()) * 1_000_000n);
      }),
    );
  });

  test('is total: any bytes are a time or an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789-:.TZ+e ') }), text => {
        nsOf(text);
      }),
      { numRuns: 2000 },
    );
  });
});

test('nanoseconds are added over midnight', () => {
  const into = { day: 0, timeOfDay: 0 };
  addNanoseconds(into, timestampOf(NS_PER_DAY - 1n), 3);
  expect(into).toEqual({ day: 1, timeOfDay: 2 });
});
