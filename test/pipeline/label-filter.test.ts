import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseByteSize } from '../../shared/base/model/byte-size.ts';
import { parseGoDuration } from '../../shared/base/model/duration.ts';
import { parseGoFloat } from '../../shared/base/model/number.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { clock, labelsAfter, makePage, runLog, runPipeline, type Texts } from './support.ts';

const failed = (details: string): Texts => ({ __error__: 'LabelFilterErr', __error_details__: details });

describe('string filters', () => {
  test.each<[string, string, boolean]>([
    ['a="1"', 'a=1', true],
    ['a="1"', 'a=12', false],
    ['a!="1"', 'a=12', true],
    ['a=""', 'b=1', true],
    ['a!=""', 'b=1', false],
    ['a=~"1.*"', 'a=12', true],
    // Always anchored: difference D1.
    ['a=~"oo"', 'a=foo', false],
    ['a=~"prod-.*"', 'a=nonprod-1', false],
    ['a=~"bar|b|buzz"', 'a=xbx', false],
    ['a=~".*foo"', 'a=foox', false],
    ['a=~"foo|"', 'b=1', true],
    ['a!~"foo|"', 'b=1', false],
    ['a=~".*"', 'b=1', true],
    ['a=~"x.y"', 'a="x\ny"', true],
    ['a="x y"', 'a="x\ufffdy"', true],
    ['app="x"', 'a=1', true],
    ['app="y"', 'app=y', false],
    ['app_extracted="y"', 'app=y', true],
  ])('%s on %j: %s', (filter, line, want) => {
    expect(labelsAfter(`| logfmt | ${filter}`, line) !== 'dropped').toBe(want);
  });
});

describe('numbers, durations and sizes', () => {
  test.each<[string, string, boolean]>([
    ['a>5', 'a=6', true],
    ['a>5', 'a=5', false],
    ['a>=5', 'a=5.0', true],
    ['a<5', 'a=-7', true],
    ['a<=5', 'a=5.000001', false],
    ['a==5', 'a=5e0', true],
    ['a=5', 'a=0x1.4p2', true],
    ['a!=5', 'a=NaN', true],
    ['a>5', 'a=NaN', false],
    ['a>5', 'a=Inf', true],
    ['a=1000', 'a=1_000', true],
    ['a>5', 'b=6', false],
    ['a!=5', 'b=6', false],
    ['a>1s', 'a=1500ms', true],
    ['a>1s', 'a=999.9ms', false],
    ['a=1m30s', 'a=1.5m', true],
    ['a=1m30s', 'a=90000000µs', true],
    ['a<1us', 'a=999ns', true],
    ['a<0s', 'b=1', false],
    ['a<1h', 'a=-2h', true],
    ['a>1000h', 'a=2000000h30m', true],
    ['a=1500us', 'a=1.5ms', true],
    ['a>1MB', 'a=1.5MB', true],
    ['a>1MB', 'a=1000kB', false],
    ['a=1KiB', 'a=1024', true],
    ['a=1KiB', 'a=1ki', true],
    ['a<1GB', 'a=999mib', false],
    ['a<2GB', 'a=1.5gb', true],
    ['a=1MB', 'a="1 mb"', true],
    ['a=1000000B', 'a=1,000,000', true],
  ])('%s on %j: %s', (filter, line, want) => {
    expect(labelsAfter(`| logfmt | ${filter}`, line) !== 'dropped').toBe(want);
  });

  test.each<[string, string, string]>([
    ['a>5', 'x', 'strconv.ParseFloat: parsing "x": invalid syntax'],
    ['a>5', '1e999', 'strconv.ParseFloat: parsing "1e999": value out of range'],
    ['a>5', '5s', 'strconv.ParseFloat: parsing "5s": invalid syntax'],
    ['a>5s', '5', 'time: missing unit in duration "5"'],
    ['a>5s', '1d', 'time: unknown unit "d" in duration "1d"'],
    ['a>5s', 'zz', 'time: invalid duration "zz"'],
    ['a>5kB', '5xb', 'unhandled size name: xb'],
    ['a>5kB', 'zz', 'strconv.ParseFloat: parsing "": invalid syntax'],
  ])('%s keeps %j with an error', (filter, value, details) => {
    expect(labelsAfter(`| logfmt | ${filter}`, `a=${value}`)).toEqual({ a: value, ...failed(details) });
    expect(labelsAfter(`| ${filter}`, '', { a: value })).toEqual({ a: value, ...failed(details) });
  });

  test('fast and exact readings of bytes agree', () => {
    const digits = fc.stringMatching(/^-?\d{1,17}(\.\d{1,9})?$/);
    const unit = fc.constantFrom(
      '',
      'ns',
      'us',
      'µs',
      'μs',
      'ms',
      's',
      'm',
      'h',
      'd',
      'b',
      'kB',
      'KiB',
      'gi',
      'TB',
      'PB',
      'x',
    );
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work();
      } catch {
        return undefined;
      }
    };
    const parity = (filter: string, text: string): boolean | 'failed' => {
      const labels = labelsAfter(`| logfmt | ${filter}`, `a=${text}`);
      if (labels === 'dropped') return false;
      return labels.__error__ === undefined ? true : 'failed';
    };
    fc.assert(
      fc.property(digits, unit, fc.nat(1e6), (number, suffix, limit) => {
        const text = number + suffix;
        const float = parseGoFloat(text);
        expect(parity(`a>${limit}`, text)).toBe(float === undefined ? 'failed' : float > limit);
        const ns = attempt(() => parseGoDuration(text));
        expect(parity(`a<=${limit}us`, text)).toBe(ns === undefined ? 'failed' : ns <= BigInt(limit) * 1000n);
        const bytes = attempt(() => parseByteSize(text));
        expect(parity(`a>=${limit + 1}B`, text)).toBe(bytes === undefined ? 'failed' : bytes >= limit + 1);
      }),
      { numRuns: 300 },
    );
  });
});

describe('errors and combinations', () => {
  test('an earlier error stays, a dropped row shows none', () => {
    expect(labelsAfter('| a>5 | b>5s', '', { a: 'x', b: 'y' })).toMatchObject(
      failed('strconv.ParseFloat: parsing "x": invalid syntax'),
    );
    expect(labelsAfter('| json | a>5', 'not json')).toBe('dropped');
  });

  test('`or` stops at the first that accepts, `and` does not', () => {
    expect(labelsAfter('| logfmt | a=1 or b>5', 'a=1 b=x')).toEqual({ a: '1', b: 'x' });
    expect(labelsAfter('| logfmt | b>5 or a=1', 'a=1 b=x')).toMatchObject({ __error__: 'LabelFilterErr' });
    expect(labelsAfter('| logfmt | a=2 and b>5', 'a=1 b=x')).toBe('dropped');
    expect(labelsAfter('| logfmt | a="1", b="x" or c="z"', 'a=1 b=x')).toEqual({ a: '1', b: 'x' });
  });

  test('__error__ is read from its slot, its details never', () => {
    expect(labelsAfter('| json | __error__="JSONParserErr"', 'x')).toMatchObject({
      __error__: 'JSONParserErr',
    });
    expect(labelsAfter('| json | __error__=""', 'x')).toBe('dropped');
    expect(labelsAfter('| json | __error__=~"JSON.*"', 'x')).not.toBe('dropped');
    expect(labelsAfter('| json | __error_details__!=""', 'x')).toBe('dropped');
    expect(labelsAfter('| a>5 | __error__!=""', '', { a: 'x' })).toMatchObject({ a: 'x' });
  });

  test('metadata may bring an error', () => {
    const metadata = { __error__: 'E', __error_details__: 'D', a: '1' };
    expect(labelsAfter('', 'l', metadata)).toEqual(metadata);
    expect(labelsAfter('| __error__="E"', 'l', metadata)).toEqual(metadata);
    expect(labelsAfter('| a=ip("1.1.1.1")', 'l', metadata)).toEqual(metadata);
  });

  test('filters run in the written order', () => {
    // The reference tries these early: difference D4.
    expect(labelsAfter('| json | label_format level="x" | level="x"', '{"level":"y"}')).toEqual({
      level: 'x',
    });
    expect(labelsAfter('| a="" | json', '{"a":"1"}')).toEqual({ a: '1' });
    expect(labelsAfter('| json | drop a | a=""', '{"a":"2"}')).toEqual({});
  });
});

describe('addresses', () => {
  test.each<[string, string, boolean]>([
    ['a=ip("10.0.0.0/8")', 'a=10.1.2.3', true],
    ['a!=ip("10.0.0.0/8")', 'a=10.1.2.3', false],
    ['a=ip("10.0.0.0/8")', 'a=11.1.2.3', false],
    ['a!=ip("10.0.0.0/8")', 'a=11.1.2.3', true],
    ['a=ip("10.0.0.0/8")', 'b=1', false],
    ['a!=ip("10.0.0.0/8")', 'b=1', false],
    ['a=ip("::1")', 'a="x ::1 y"', true],
  ])('%s on %j: %s', (filter, line, want) => {
    expect(labelsAfter(`| logfmt | ${filter}`, line) !== 'dropped').toBe(want);
  });

  test('one that is none, among other filters, is in no value', () => {
    const kept = (filter: string, line: string) => labelsAfter(`| logfmt | ${filter}`, line) !== 'dropped';
    for (const address of ['ip("")', 'ip("x")', 'ip("1.2.3.4/33")']) {
      expect(kept(`a=${address} or b="c"`, 'a=1.2.3.4 b=c')).toBe(true);
      expect(kept(`a=${address} or b="c"`, 'a=1.2.3.4 b=d')).toBe(false);
      expect(kept(`a!=${address} or b="c"`, 'a=1.2.3.4 b=d')).toBe(false);
      expect(kept(`a!=${address} and b="c"`, 'a=1.2.3.4 b=c')).toBe(false);
      expect(kept(`a!=${address}, b="c"`, 'a=x b=c')).toBe(false);
      expect(kept(`(a!=${address} or b="c") and a="x"`, 'a=x b=c')).toBe(true);
      expect(() => kept(`a=${address}`, '')).toThrow(`parse error : stage '| a=${address}' : ip: invalid`);
      expect(() => kept(`(a!=${address})`, '')).toThrow(
        `parse error : stage '| a!=${address}' : ip: invalid`,
      );
      expect(() => kept(`b="c" | a=${address}`, '')).toThrow('ip: invalid');
    }
    expect(labelsAfter('| json | a=ip("") and b!="c"', 'x')).toMatchObject({ __error__: 'JSONParserErr' });
  });

  test('a row with an error is kept', () => {
    expect(labelsAfter('| json | a=ip("10.0.0.0/8")', 'x')).toMatchObject({ __error__: 'JSONParserErr' });
  });
});

describe('filters on stored labels', () => {
  const value = fc.constantFrom('1', '7', '12', 'x', 'error');
  const labels = fc.dictionary(fc.constantFrom('a', 'b', 'app', 'b_extracted'), value);
  const entry = fc.record({
    line: fc.constant('l'),
    stream: fc.record({ app: fc.constant('x'), b: value }, { requiredKeys: ['app'] }),
    metadata: labels,
  });
  const filter = fc.constantFrom(
    'a="1"',
    'a!="x"',
    'a=~"1.*"',
    'a>5',
    'b="1"',
    'b_extracted="1"',
    'a="1" or b="1"',
    'a>5 and b>5',
    'app_extracted!=""',
    'a>5 or b_extracted>5',
  );
  test('decided by stream and value, they answer as row by row', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 12 }),
        filter,
        filter,
        (entries, first, second) => {
          const page = makePage(entries as Parameters<typeof makePage>[0]);
          const answer = (stages: string) =>
            runPipeline(compileLogPipeline(parseQuery(`{app="x"} ${stages}`) as LogExpr, { clock }), page);
          const plain = answer(`| ${first} | ${second}`);
          expect(plain).toEqual(answer(`| drop nosuch | ${first} | ${second}`));
          expect(plain).toEqual(answer(`| logfmt | ${first} | ${second}`));
        },
      ),
    );
  });

  test('a page of many runs', () => {
    const entries = Array.from({ length: 300 }, (_, i) => ({
      line: `l${i}`,
      stream: { app: 'x', n: String(i % 7) },
      metadata: { level: i % 3 === 0 ? 'error' : 'info' },
    }));
    const rows = runLog('| n="3" | level="error"', entries).map(({ row }) => row);
    expect(rows).toEqual(entries.flatMap((_, i) => (i % 7 === 3 && i % 3 === 0 ? [i] : [])));
  });
});
