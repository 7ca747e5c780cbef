import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EntryTimes } from '../../bin/cli/import/entry-times.ts';
import { checkTimeFormat, timeReader } from '../../bin/cli/import/time-reader.ts';
import { useTimeZone } from '../../bin/cli/time-zone.ts';

useTimeZone('UTC');

const NOON = Date.UTC(2026, 0, 10, 12);

function whole(text: unknown, format?: string): string | undefined {
  const ns = timeReader(format, NOON).whole(text);
  if (ns === undefined) return undefined;
  return new Date(Number(ns / 1_000_000n)).toISOString().replace('Z', `${ns % 1_000_000n || ''}Z`);
}

const TEN = '2026-01-05T10:00:00.000Z';

describe('recognized times', () => {
  test.each([
    [TEN, TEN],
    ['2026-01-05 10:00:00', TEN],
    ['2026-01-05t10:00:00z', TEN],
    ['2026/01/05 10:00:00', TEN],
    ['2026-01-05 11:00:00 +0100', TEN],
    ['2026-01-05T08:30:00-01:30', TEN],
    ['2026-01-05 10:00:00,123', '2026-01-05T10:00:00.123Z'],
    ['2026-01-05 10:00:00.123456789123', '2026-01-05T10:00:00.123456789Z'],
    ['2024-02-29 00:00:00', '2024-02-29T00:00:00.000Z'],
    ['05/Jan/2026:10:00:00 +0000', TEN],
    ['Jan  5 10:00:00', TEN],
    ['Jan 11 10:00:00', '2026-01-11T10:00:00.000Z'],
    ['Jan 13 10:00:00', '2025-01-13T10:00:00.000Z'],
    ['Feb 29 10:00:00', '2024-02-29T10:00:00.000Z'],
    ['Mon Jan  5 10:00:00 2026', TEN],
    ['Mon, 05 Jan 2026 10:00:00 GMT', TEN],
    ['I0105 10:00:00.000001', '2026-01-05T10:00:00.0001000Z'],
    ['1767607200', TEN],
    [1767607200, TEN],
    [1767607200.5, '2026-01-05T10:00:00.500Z'],
    ['1767607200000', TEN],
    ['1767607200000000', TEN],
    ['1767607200000000001', '2026-01-05T10:00:00.0001Z'],
    ['2016-12-31 23:59:60', '2017-01-01T00:00:00.000Z'],
    ['2026-02-29 00:00:00', undefined],
    ['2026-13-05 10:00:00', undefined],
    ['2026-01-05 24:00:00', undefined],
    ['2026-01-05 10:60:00', undefined],
    ['0001-01-05 10:00:00', undefined],
    ['9999-01-05 10:00:00', undefined],
    ['9999999999999999999', undefined],
    ['2026-01-05', undefined],
    ['2026-01-05 10:00:00 or so', undefined],
    ['7', undefined],
    ['', undefined],
    [null, undefined],
    [Number.NaN, undefined],
    [1e300, undefined],
    [{}, undefined],
    ['1'.repeat(1000), undefined],
  ])('%j is %s', (text, want) => {
    expect(whole(text)).toBe(want);
  });

  test('keep the rest of a line', () => {
    const reader = timeReader(undefined, NOON);
    expect(reader.leading('2026-01-05 10:00:00 -0100 x')?.end).toBe(25);
    expect(reader.leading('2026-01-05 10:00:00 -1 x')?.end).toBe(19);
    expect(reader.leading('1767607200 x')?.end).toBe(10);
    expect(reader.leading('1767607200x')).toBeUndefined();
  });

  test('are read back for any time', () => {
    const date = fc.date({ min: new Date('1700-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(fc.property(date, each => expect(whole(each.toISOString())).toBe(each.toISOString())));
  });
});

describe('times in a given format', () => {
  test.each([
    ['05.01.2026 10:00:00,5', '%d.%m.%Y %H:%M:%S,%f', '2026-01-05T10:00:00.500Z'],
    ['5 January 2026 at 10:00 PM', '%d %B %Y at %I:%M %p', '2026-01-05T22:00:00.000Z'],
    ['12:00 AM 01/05/26', '%I:%M %p %D', '2026-01-05T00:00:00.000Z'],
    ['13:00 AM 01/05/26', '%I:%M %p %D', undefined],
    ['[2026-01-05T11:00:00+0100]', '[%FT%T%z]', TEN],
    ['Jan  5 10:00', '%b %e %R', TEN],
    ['100%1767607200.25', '100%%%s.%f', '2026-01-05T10:00:00.250Z'],
    ['05.01.26 10:00', '%d.%m.%y %H:%M', TEN],
    ['05.01.99 10:00', '%d.%m.%y %H:%M', '1999-01-05T10:00:00.000Z'],
    ['31.02.2026', '%d.%m.%Y', undefined],
    ['12345', 'unix', '1970-01-01T03:25:45.000Z'],
    ['12345', 'unix_ms', '1970-01-01T00:00:12.345Z'],
    ['1767607200000', 'unix_ms', TEN],
    ['1767607200', 'iso', undefined],
    [TEN, 'rfc3339', TEN],
  ])('%s with %s', (text, format, want) => {
    expect(whole(text, checkTimeFormat(format))).toBe(want);
  });

  test.each([
    ['%Q', 'Unknown directive %Q'],
    ['%H:%M', 'needs a day and a month'],
    ['iso9', 'is a pattern such as'],
    ['%d %m %', 'Unknown directive % '],
  ])('%s is refused', (format, message) => {
    expect(() => checkTimeFormat(format)).toThrow(message);
  });

  test('any pattern is either valid or refused', () => {
    const pattern = fc.string({
      unit: fc.constantFrom('%', 'd', 'm', 'Y', '(', '[', '\\', '+', '{', ' ', '.', '*'),
    });
    fc.assert(
      fc.property(pattern, fc.string(), (format, text) => {
        try {
          checkTimeFormat(format);
        } catch (error) {
          expect((error as Error).message).toContain('time format');
          return;
        }
        timeReader(format, NOON).whole(text);
      }),
    );
  });
});

describe('timestamps of entries', () => {
  const entryTimes = (fallback: 'previous' | 'file' | 'now' | 'skip', fileNs?: bigint) => {
    let now = 1000n;
    return new EntryTimes({ fallback, fileNs, nowNs: () => now++ });
  };

  test('are a nanosecond apart if the times are equal', () => {
    const times = entryTimes('previous');
    expect([5n, 5n, 9n, 5n].map(ns => times.next(ns))).toEqual([5n, 6n, 9n, 7n]);
  });

  test.each([
    ['previous', 7n, [7n, 5n, 6n]],
    ['previous', undefined, [1000n, 5n, 6n]],
    ['file', 7n, [7n, 5n, 8n]],
    ['now', 7n, [1000n, 5n, 1001n]],
    ['skip', 7n, [undefined, 5n, undefined]],
  ] as const)('fall back to %s', (fallback, fileNs, want) => {
    const times = entryTimes(fallback, fileNs);
    expect([undefined, 5n, undefined].map(ns => times.next(ns))).toEqual(want);
    expect(times.withoutTime).toBe(2);
  });

  test('are the same for an input that is read again and has grown', () => {
    const times = fc.array(fc.option(fc.bigInt({ min: 0n, max: 20n }), { nil: undefined }));
    fc.assert(
      fc.property(times, times, (first, more) => {
        const before = entryTimes('previous', 3n);
        const after = entryTimes('previous', 3n);
        const stored = first.map(ns => before.next(ns));
        expect([...first, ...more].map(ns => after.next(ns)).slice(0, first.length)).toEqual(stored);
      }),
    );
  });
});
