import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashOfAscii, hashOfText } from '../../../shared/base/model/text-hash.ts';
import {
  type DetectedType,
  detectedTypeOf,
  shownValue,
} from '../../../shared/read/insight/detected/value-type.ts';

test.each<[DetectedType, readonly string[]]>([
  ['int', ['0', '1', '-1', '+7', '007', '9223372036854775807', '-9223372036854775808']],
  [
    'float',
    ['1.5', '-0.1', '.5', '5.', '1e3', '1E-3', '9223372036854775808', 'NaN', 'inf', '-Infinity', '0x1p-2'],
  ],
  ['boolean', ['t', 'T', 'true', 'TRUE', 'True', 'f', 'F', 'false', 'FALSE', 'False']],
  ['duration', ['5m', '1h30m', '-1.5s', '+2ms', '100µs', '3ns', '1m0.5s']],
  ['bytes', ['1B', '1.5MB', '2 KiB', '1,024 kB', '7gib', '3k', '1TB']],
  [
    'string',
    ['', ' ', 'x', 'tRUE', 'yes', '1e999', '-5MB', '5 minutes', '1.2.3', '10.0.0.1', '5mx', '--1', '1d', '٣'],
  ],
])('%s', (type, values) => {
  expect(values.map(value => [value, detectedTypeOf(value)])).toEqual(values.map(value => [value, type]));
});

test.each([
  ['1500000B', '1.5MB'],
  ['1.5MB', '1.5MB'],
  ['2KiB', '2.0kB'],
  ['12 GB', '12GB'],
  ['9B', '9B'],
  ['0B', '0B'],
  // No unit, a duration, no size.
  ['1500000', '1500000'],
  ['1.5', '1.5'],
  ['5m', '5m'],
  ['GET', 'GET'],
  ['', ''],
])('%j is shown as %j', (value, want) => {
  expect(shownValue(value)).toBe(want);
});

describe('for any text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^[-+]?[0-9.,_]{0,25} ?[a-zA-Zµ]{0,4}$/),
    fc.string({ minLength: 2000, maxLength: 3000, unit: fc.constantFrom('1', '.', 'm', '_') }),
  );

  test('any text has a type, and a value shown is one that stays', () => {
    fc.assert(
      fc.property(text, value => {
        expect(['int', 'float', 'boolean', 'duration', 'bytes', 'string']).toContain(detectedTypeOf(value));
        const shown = shownValue(value);
        expect(shownValue(shown)).toBe(shown);
      }),
    );
  });

  test('ASCII bytes and their text have the same hash', () => {
    fc.assert(
      fc.property(text, fc.nat(5), (value, before) => {
        const bytes = Buffer.from('.'.repeat(before) + value);
        const isAscii = bytes.every(byte => byte < 0x80);
        expect(hashOfAscii(bytes, before, bytes.length)).toBe(isAscii ? hashOfText(value) : -1);
        expect(hashOfText(value)).toBeLessThan(2 ** 53);
      }),
    );
  });

  test('different values rarely share a hash', () => {
    const hashes = new Set<number>();
    for (let i = 0; i < 20_000; i++) hashes.add(hashOfText(`${i}`)).add(hashOfText(`value-${i}`));
    expect(hashes.size).toBe(40_000);
  });
});
