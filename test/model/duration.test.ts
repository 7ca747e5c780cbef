import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  formatGoDuration,
  formatPrometheusDuration,
  parseGoDuration,
  parsePrometheusDuration,
} from '../../shared/base/model/duration.ts';
import { NS_PER_MS, NS_PER_SECOND as S } from '../../shared/base/model/time-units.ts';

describe('Prometheus durations', () => {
  test.each([
    ['0', 0n],
    ['5m', 300n * S],
    ['1h30m', 5400n * S],
    ['1y2w3d4h5m6s7ms', (365n + 14n + 3n) * 86_400n * S + (4n * 3600n + 306n) * S + 7n * NS_PER_MS],
    ['0005s', 5n * S],
    ['90m', 5400n * S],
  ])('%s', (text, want) => {
    expect(parsePrometheusDuration(text)).toBe(want);
  });

  test.each([
    ['', 'empty duration string'],
    ['5', 'not a valid duration string: "5"'],
    ['1.5h', 'not a valid duration string: "1.5h"'],
    ['-1h', 'not a valid duration string: "-1h"'],
    ['1m1h', 'not a valid duration string: "1m1h"'],
    ['1us', 'not a valid duration string: "1us"'],
    ['300y', 'duration out of range'],
    [`${'9'.repeat(100_000)}s`, 'duration out of range'],
  ])('%s is refused', (text, message) => {
    expect(() => parsePrometheusDuration(text)).toThrow(message);
  });

  test.each([
    [0n, '0s'],
    [999_999n, '0s'],
    [1500n * NS_PER_MS, '1s500ms'],
    [365n * 86_400n * S, '1y'],
    [14n * 86_400n * S, '2w'],
    [8n * 86_400n * S, '8d'],
    [721n * 3600n * S, '30d1h'],
    [-5400n * S, '-1h30m'],
  ])('%s ns prints %s', (ns, want) => {
    expect(formatPrometheusDuration(ns)).toBe(want);
  });

  test('printed durations parse again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 9_000_000_000_000n }), ms => {
        expect(parsePrometheusDuration(formatPrometheusDuration(ms * NS_PER_MS))).toBe(ms * NS_PER_MS);
      }),
    );
  });
});

describe('Go durations', () => {
  test.each([
    ['0', 0n],
    ['-0', 0n],
    ['1.5h', 5400n * S],
    ['-90m', -5400n * S],
    ['1h1.5s', 3_601_500_000_000n],
    ['100us', 100_000n],
    ['100µs', 100_000n],
    ['.5s', S / 2n],
    ['1.s', S],
    ['+2ns', 2n],
    ['0.3333333333333333333h', 1_199_999_999_999n],
    ['1s1s', 2n * S],
  ])('%s', (text, want) => {
    expect(parseGoDuration(text)).toBe(want);
  });

  test.each([
    ['', 'time: invalid duration ""'],
    ['zz', 'time: invalid duration "zz"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['.s', 'time: invalid duration ".s"'],
    ['-', 'time: invalid duration "-"'],
    ['1 s', 'time: unknown unit " s" in duration "1 s"'],
    // Go's package time quotes each byte that is not printable ASCII.
    ['caf\u00e9', 'time: invalid duration "caf\\xc3\\xa9"'],
    ['5\u00e9', 'time: unknown unit "\\xc3\\xa9" in duration "5\\xc3\\xa9"'],
    ['a\tb', 'time: invalid duration "a\\x09b"'],
    ['a\udcff', 'time: invalid duration "a\\xff"'],
    ['a"\\', 'time: invalid duration "a\\"\\\\"'],
    ['3000000h', 'time: invalid duration "3000000h"'],
    [`${'9'.repeat(100_000)}s`, 'time: invalid duration'],
  ])('%s is refused', (text, message) => {
    expect(() => parseGoDuration(text)).toThrow(message);
  });

  test.each([
    [0n, '0s'],
    [7n, '7ns'],
    [1500n, '1.5µs'],
    [2_500_000n, '2.5ms'],
    [90n * S, '1m30s'],
    [5400n * S, '1h30m0s'],
    [86_400n * S, '24h0m0s'],
    [-1_500_000_000n, '-1.5s'],
  ])('%s ns prints %s', (ns, want) => {
    expect(formatGoDuration(ns)).toBe(want);
  });

  test('printed durations parse again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), ns => {
        expect(parseGoDuration(formatGoDuration(ns))).toBe(ns);
      }),
    );
  });
});
