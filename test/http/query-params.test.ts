/** Rules of docs/dev/wire-format.md#parameters; messages marked by the recorded responses of the category invalid-params. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { MAX_INT64, MIN_INT64 } from '../../shared/base/model/int64.ts';
import { NS_PER_HOUR, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { parseParams } from '../../shared/server/http/params.ts';
import {
  booleanParam,
  instantQueryParams,
  LABELS_SINCE_NS,
  limitParam,
  rangeParams,
  rangeQueryParams,
} from '../../shared/server/http/query-params.ts';
import { parseInt64 } from '../../shared/server/http/strconv.ts';
import { parseRfc3339, parseTimestamp } from '../../shared/server/http/timestamp.ts';
import { messageThrown, request } from './request.ts';

const START = '1795154400000000000';
const END = '1795176000000000000';
const NOW = 1_795_200_000n * NS_PER_SECOND;

const params = (query: Record<string, string>) =>
  parseParams(request({ rawQuery: new URLSearchParams(query).toString() }));
const range = (query: Record<string, string>) => rangeQueryParams(params(query), NOW);
const instant = (query: Record<string, string>) => instantQueryParams(params(query), NOW);

describe('timestamps', () => {
  test.each<[string, bigint]>([
    ['0', 0n],
    ['-1', -NS_PER_SECOND],
    ['+1', NS_PER_SECOND],
    ['1795154400', 1_795_154_400n * NS_PER_SECOND],
    ['9999999999', MAX_INT64],
    ['-999999999', -999_999_999n * NS_PER_SECOND],
    ['10000000000', 10_000_000_000n],
    ['00000000001', 1n],
    [START, BigInt(START)],
    ['1795154400000', 1_795_154_400_000n],
    ['9223372036854775807', MAX_INT64],
    ['-9223372036854775808', MIN_INT64],
    ['1795154400.5', 1_795_154_400_500_000_000n],
    ['1795176000.25', 1_795_176_000_250_000_000n],
    ['1.0006', 1_001_000_000n],
    ['0.0005', 1_000_000n],
    ['-0.0005', -1_000_000n],
    ['1.0004', 1_000_000_000n],
    ['1.9999', 2_000_000_000n],
    ['-1.5', -1_500_000_000n],
    ['.5', 500_000_000n],
    ['1.5e3', 1500n * NS_PER_SECOND],
    ['1.0e300', 9_223_372_036n * NS_PER_SECOND],
    ['-1.0e300', -9_223_372_036n * NS_PER_SECOND],
    ['1970-01-01T00:00:00Z', 0n],
    ['2026-11-20T06:00:00.000Z', BigInt(START)],
    ['2026-11-20T06:00:00.000+00:00', BigInt(START)],
    ['2026-11-20T08:00:00+02:00', BigInt(START)],
    ['2026-11-20T01:30:00-04:30', BigInt(START)],
    ['2026-11-20T06:00:00.123456789Z', BigInt(START) + 123_456_789n],
    ['2026-11-20T06:00:00.1234567899Z', BigInt(START) + 123_456_789n],
    ['2026-11-20T06:00:00,5Z', BigInt(START) + 500_000_000n],
    ['2024-02-29T00:00:00Z', 1_709_164_800n * NS_PER_SECOND],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['2500-01-01T00:00:00Z', MAX_INT64],
    ['0001-01-01T00:00:00Z', MIN_INT64],
  ])('%s', (text, want) => {
    expect(parseTimestamp(text)).toBe(want);
  });

  test.each([
    ...[
      'x',
      '1e18',
      'NaN',
      '2020-13-01T00:00:00Z',
      '2020-01-01',
      '2023-02-29T00:00:00Z',
      '2023-04-31T00:00:00Z',
    ],
    ...['2020-01-01T24:00:00Z', '2020-01-01T00:60:00Z', '2020-01-01T00:00:60Z', '2020-01-01T00:00:00'],
    ...[
      '2020-01-01t00:00:00z',
      '2020-01-01 00:00:00Z',
      '2020-00-01T00:00:00Z',
      '2020-01-00T00:00:00Z',
      ' 1',
      '1_0',
      '0x10',
    ],
    ...['1.2.3', '.', '--1', '2020-01-01T00:00:00+25:00'],
  ])('%s is invalid', text => {
    expect(messageThrown(() => parseTimestamp(text))).toBe(
      `strconv.ParseInt: parsing "${text}": invalid syntax`,
    );
  });

  test('refuses timestamps beyond int64', () => {
    for (const text of ['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)]) {
      expect(messageThrown(() => parseTimestamp(text))).toBe(
        `strconv.ParseInt: parsing "${text}": value out of range`,
      );
    }
  });

  test('property: RFC 3339 of Date and whole nanoseconds parse', () => {
    const any = fc.date({ min: new Date('1700-01-01'), max: new Date('2250-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(any, fc.integer({ min: 0, max: 999_999 }), (date, nanos) => {
        const ns = BigInt(date.getTime()) * 1_000_000n + BigInt(nanos);
        const text = date.toISOString().replace('Z', `${String(nanos).padStart(6, '0')}Z`);
        expect(parseRfc3339(text)).toBe(ns);
        if (ns.toString().length > 10) expect(parseTimestamp(ns.toString())).toBe(ns);
      }),
    );
  });

  test('property: a text is a timestamp or a 400, never anything else', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789.-+eT:ZxN') });
    fc.assert(
      fc.property(digits, text => {
        try {
          const ns = parseTimestamp(text);
          expect(ns >= MIN_INT64 && ns <= MAX_INT64).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequestError);
        }
      }),
    );
  });
});

describe('start, end, since', () => {
  test.each<[Record<string, string>, bigint, bigint]>([
    [{}, NOW - NS_PER_HOUR, NOW],
    [{ start: '', end: '', since: '' }, NOW - NS_PER_HOUR, NOW],
    [{ start: START, end: END }, BigInt(START), BigInt(END)],
    [{ start: START, end: START }, BigInt(START), BigInt(START)],
    [{ start: START }, BigInt(START), NOW],
    [{ end: END }, BigInt(END) - NS_PER_HOUR, BigInt(END)],
    [{ end: END, since: '1h30m' }, BigInt(END) - (NS_PER_HOUR * 3n) / 2n, BigInt(END)],
    [{ start: START, end: END, since: '5m' }, BigInt(START), BigInt(END)],
    [{ since: '1w' }, NOW - 168n * NS_PER_HOUR, NOW],
    [{ end: '9000000000' }, NOW - NS_PER_HOUR, 9_000_000_000n * NS_PER_SECOND],
    [{ start: '-1', end: '0' }, -NS_PER_SECOND, 0n],
  ])('%j give a range', (query, startNs, endNs) => {
    expect(rangeParams(params(query), NOW)).toEqual({ startNs, endNs });
  });

  test('labels look back six hours', () => {
    const { startNs } = rangeParams(params({}), NOW, { defaultSinceNs: LABELS_SINCE_NS });
    expect(startNs).toBe(NOW - 6n * NS_PER_HOUR);
  });

  test.each([
    [{ start: 'x' }, `could not parse 'start' parameter: strconv.ParseInt: parsing "x": invalid syntax`],
    [{ end: 'x' }, `could not parse 'end' parameter: strconv.ParseInt: parsing "x": invalid syntax`],
    [{ since: 'x' }, `could not parse 'since' parameter: not a valid duration string: "x"`],
    [{ since: '-1h' }, `could not parse 'since' parameter: not a valid duration string: "-1h"`],
    [{ since: '1.5h' }, `could not parse 'since' parameter: not a valid duration string: "1.5h"`],
    [
      { since: 'x', start: START, end: END },
      `could not parse 'since' parameter: not a valid duration string: "x"`,
    ],
    [{ start: END, end: START }, 'end timestamp must not be before or equal to start time'],
    [{ start: '9000000000' }, 'end timestamp must not be before or equal to start time'],
  ])('%j are refused', (query, want) => {
    expect(messageThrown(() => rangeParams(params(query as Record<string, string>), NOW))).toBe(want);
  });
});

describe('range query', () => {
  const given = { query: '{app="edge"}', start: START, end: END };
  const plain = { limit: 100, direction: 'backward', stepNs: 86n * NS_PER_SECOND, intervalNs: 0n };

  test.each<[Record<string, string>, object]>([
    [{}, plain],
    [{ limit: '', direction: '', step: '', interval: '', shards: 'x', delay_for: '9' }, plain],
    [
      { limit: '4294967295', direction: 'FORWARD' },
      { limit: 4_294_967_295, direction: 'forward' },
    ],
    [
      { limit: '+7', direction: 'Backward' },
      { limit: 7, direction: 'backward' },
    ],
    [{ step: '60' }, { stepNs: 60n * NS_PER_SECOND }],
    [{ step: '7m' }, { stepNs: 420n * NS_PER_SECOND }],
    [
      { step: '90s', interval: '5m' },
      { stepNs: 90n * NS_PER_SECOND, intervalNs: 300n * NS_PER_SECOND },
    ],
    [{ step: '2.5' }, { stepNs: 2_500_000_000n }],
    [{ step: '1e1' }, { stepNs: 10n * NS_PER_SECOND }],
    [{ step: '1d' }, { stepNs: 24n * NS_PER_HOUR }],
    [{ interval: '0' }, { intervalNs: 0n }],
    [{ interval: '0.5' }, { intervalNs: 500_000_000n }],
    [{ interval: '-0.0000000001' }, { intervalNs: 0n }],
    [{ start: END }, { stepNs: NS_PER_SECOND }],
    [{ start: '0' }, { startNs: 0n, stepNs: 7_180_704n * NS_PER_SECOND }],
    [{ end: '1795154649', start: '1795154400' }, { stepNs: NS_PER_SECOND }],
    [{ end: '1795154900', start: '1795154400' }, { stepNs: 2n * NS_PER_SECOND }],
    [{ start: '-900000000', end: '9000000000' }, { stepNs: 39_600_000n * NS_PER_SECOND }],
    [{ start: '1795165000', end: END, step: '1' }, { stepNs: NS_PER_SECOND }],
  ])('%j is parsed', (query, want) => {
    expect(range({ ...given, ...query })).toMatchObject(want);
  });

  const zeroStep = 'zero or negative query resolution step widths are not accepted. Try a positive integer';
  const tooFine =
    'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter';

  test.each([
    [{ limit: '0' }, 'limit must be a positive value'],
    [{ limit: '-1' }, 'limit must be a positive value'],
    [{ limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
    [{ limit: '1.5' }, 'strconv.Atoi: parsing "1.5": invalid syntax'],
    [{ limit: '99999999999' }, 'limit value 99999999999 is out of range [0, 4294967295]'],
    [{ limit: '4294967296' }, 'limit value 4294967296 is out of range [0, 4294967295]'],
    [{ limit: '99999999999999999999' }, 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
    [{ direction: 'x' }, "invalid direction 'x'"],
    [{ direction: 'Sideways' }, "invalid direction 'Sideways'"],
    [{ interval: 'x' }, 'cannot parse "x" to a valid duration'],
    [{ interval: '-1' }, 'interval must be >= 0'],
    [{ interval: 'NaN' }, 'interval must be >= 0'],
    [{ interval: '-5m' }, 'cannot parse "-5m" to a valid duration'],
    [{ step: 'x' }, 'cannot parse "x" to a valid duration'],
    [{ step: '0' }, zeroStep],
    [{ step: '-1' }, zeroStep],
    [{ step: 'NaN' }, zeroStep],
    [{ step: '0.0000000001' }, zeroStep],
    [{ step: '-5m' }, 'cannot parse "-5m" to a valid duration'],
    [{ step: '1ns' }, 'cannot parse "1ns" to a valid duration'],
    [{ step: '1e12' }, 'cannot parse "1e12" to a valid duration. It overflows int64'],
    [{ step: 'Inf' }, 'cannot parse "Inf" to a valid duration. It overflows int64'],
    [{ interval: '-Inf' }, 'cannot parse "-Inf" to a valid duration. It overflows int64'],
    [{ step: '1' }, tooFine],
    [{ start: '1763618400000000000', step: '60' }, tooFine],
    // The first of several mistakes.
    [
      { start: 'x', limit: 'x', step: 'x' },
      `could not parse 'start' parameter: strconv.ParseInt: parsing "x": invalid syntax`,
    ],
    [{ limit: 'x', direction: 'x', step: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
    [{ direction: 'x', step: 'x' }, "invalid direction 'x'"],
    [{ step: '0', interval: 'x' }, zeroStep],
  ])('%j is refused', (query, want) => {
    expect(messageThrown(() => range({ ...given, ...(query as Record<string, string>) }))).toBe(want);
  });

  test('has at most 11,000 points, counted in whole steps', () => {
    const at = (seconds: number) =>
      range({ start: '1000000000', end: String(1_000_000_000 + seconds), step: '1' });
    expect(at(11_000).stepNs).toBe(NS_PER_SECOND);
    expect(messageThrown(() => at(11_001))).toBe(tooFine);
  });

  test('property: has a default step within the limits for any range', () => {
    const second = fc.bigInt({ min: 0n, max: 9_000_000_000n });
    fc.assert(
      fc.property(second, second, (a, b) => {
        const [start, end] = a < b ? [a, b] : [b, a];
        const { startNs, endNs, stepNs } = range({ start: `${start}`, end: `${end}` });
        expect(stepNs >= NS_PER_SECOND && stepNs % NS_PER_SECOND === 0n).toBe(true);
        expect((endNs - startNs) / stepNs <= 500n).toBe(true);
      }),
    );
  });
});

describe('instant query', () => {
  test.each<[Record<string, string>, object]>([
    [{}, { query: '', timeNs: NOW, limit: 100, direction: 'backward' }],
    [
      { query: 'x', time: '1795158420.5' },
      { query: 'x', timeNs: 1_795_158_420_500_000_000n },
    ],
    [
      { time: '1795158420000', limit: '5', direction: 'forward' },
      { timeNs: 1_795_158_420_000n, limit: 5, direction: 'forward' },
    ],
  ])('%j is parsed', (query, want) => {
    expect(instant(query)).toMatchObject(want);
  });

  test.each([
    [{ time: 'x' }, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [{ time: '2020-01-01' }, 'strconv.ParseInt: parsing "2020-01-01": invalid syntax'],
    [{ limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
    [{ limit: '0' }, 'limit must be a positive value'],
    [{ direction: 'bad' }, "invalid direction 'bad'"],
  ])('%j is refused', (query, want) => {
    expect(messageThrown(() => instant(query as Record<string, string>))).toBe(want);
  });
});

test('other limits have separate names and defaults, and 0 means the default', () => {
  const given = params({ line_limit: '7', limit: '0' });
  expect(limitParam(given, 'line_limit')).toBe(7);
  expect(limitParam(given, 'field_limit', { initial: 1000 })).toBe(1000);
  expect(limitParam(given, 'limit', { zeroIsInitial: true })).toBe(100);
  expect(messageThrown(() => limitParam(given, 'limit', { initial: 1000 }))).toBe(
    'limit must be a positive value',
  );
  expect(messageThrown(() => limitParam(params({ limit: '-1' }), 'limit', { zeroIsInitial: true }))).toBe(
    'limit must be a positive value',
  );
});

test('booleans are parsed', () => {
  for (const text of ['t', 'TRUE', '1'])
    expect(booleanParam(params({ flush: text }), 'flush', false)).toBe(true);
  for (const text of ['f', 'False', '0'])
    expect(booleanParam(params({ flush: text }), 'flush', true)).toBe(false);
  for (const text of ['', 'x']) expect(booleanParam(params({ flush: text }), 'flush', true)).toBe(true);
});

test('quotes in an error are escaped like in Go', () => {
  expect(messageThrown(() => parseInt64('a"\n', 'Atoi'))).toBe(
    'strconv.Atoi: parsing "a\\"\\n": invalid syntax',
  );
});
