import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import {
  formatRfc3339,
  parseNanoseconds,
  setRfc3339,
  type Timestamp,
  timestampOf,
} from '../../shared/write/ingest/timestamp.ts';

const DAY = BigInt(NS_OF_DAY);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

function parse(text: string): string {
  const into: Timestamp = { day: 0, timeOfDay: 0 };
  const bytes = Buffer.from(`"${text}"`);
  const result = parseNanoseconds(into, bytes, 1, bytes.length - 1);
  if (result !== 'ok') return result;
  expect(into.timeOfDay >= 0 && into.timeOfDay < NS_OF_DAY).toBe(true);
  return String(BigInt(into.day) * DAY + BigInt(into.timeOfDay));
}

describe('parseNanoseconds', () => {
  test('parses every int64', () => {
    fc.assert(
      fc.property(int64, fc.nat(3), (ns, zeros) => {
        const digits = String(ns < 0n ? -ns : ns).padStart(20 + zeros, '0');
        expect(parse(String(ns))).toBe(String(ns));
        expect(parse(`${ns < 0n ? '-' : ''}${digits}`)).toBe(String(ns));
      }),
    );
  });

  // [text, want]
  const rows: [string, string][] = [
    ['0', '0'],
    ['-0', '0'],
    ['-1', '-1'],
    ['999999999', '999999999'],
    ['-1000000000', '-1000000000'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', 'overflow'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['-9223372036854775809', 'overflow'],
    ['99999999999999999999', 'overflow'],
    ['', 'malformed'],
    ['-', 'malformed'],
    ['+1', 'malformed'],
    ['1.5', 'malformed'],
    ['1e9', 'malformed'],
    [' 1', 'malformed'],
    ['12a', 'malformed'],
  ];
  test.each(rows)('%j', (text, want) => {
    expect(parse(text)).toBe(want);
  });
});

describe('setRfc3339', () => {
  // [text, nanoseconds or undefined]
  const rows: [string, bigint | undefined][] = [
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-02T00:00:00.000000001Z', DAY + 1n],
    ['2024-01-02T03:04:05.000000006Z', 1_704_164_645_000_000_006n],
    ['2024-01-02T03:04:05.1234567899Z', 1_704_164_645_123_456_789n],
    ['2024-01-02T05:04:05+02:00', 1_704_164_645_000_000_000n],
    ['2024-01-01T21:34:05-05:30', 1_704_164_645_000_000_000n],
    ['1969-12-31T23:59:59.5Z', -500_000_000n],
    ['2024-02-30T00:00:00Z', undefined],
    ['2024-13-01T00:00:00Z', undefined],
    ['2024-01-01T24:00:00Z', undefined],
    ['2024-01-01T00:60:00Z', undefined],
    ['2024-01-01T00:00:60Z', undefined],
    ['2024-01-01T00:00:00', undefined],
    ['2024-01-01 00:00:00Z', undefined],
    ['2024-01-01T00:00:00+24:00', undefined],
    ['', undefined],
  ];
  test.each(rows)('%j', (text, want) => {
    const into: Timestamp = { day: 0, timeOfDay: 0 };
    const ok = setRfc3339(into, text);
    expect(ok ? BigInt(into.day) * DAY + BigInt(into.timeOfDay) : undefined).toBe(want);
  });
});

test('timestampOf keeps every int64, and its text is the time to the second', () => {
  fc.assert(
    fc.property(int64, ns => {
      const { day, timeOfDay } = timestampOf(ns);
      expect(BigInt(day) * DAY + BigInt(timeOfDay)).toBe(ns);
      const seconds = (ns - (((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)) / 1_000_000_000n;
      expect(Date.parse(formatRfc3339(day, timeOfDay)) / 1000).toBe(Number(seconds));
    }),
  );
});

test('formatRfc3339 formats times', () => {
  expect(formatRfc3339(-719_162, 0)).toBe('0001-01-01T00:00:00Z');
  expect(formatRfc3339(19_724, 11_045_999_999_999)).toBe('2024-01-02T03:04:05Z');
});
