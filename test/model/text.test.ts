import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BufferPool } from '../../shared/base/model/buffer-pool.ts';
import { formatByteSize, parseByteSize } from '../../shared/base/model/byte-size.ts';
import { compareUtf8, equalRange } from '../../shared/base/model/bytes.ts';
import {
  compareLabels,
  formatLabels,
  labelsOf,
  labelsToObject,
  labelValue,
} from '../../shared/base/model/labels.ts';
import { LruCache } from '../../shared/base/model/lru.ts';
import { formatPlain, parseFloatError, parseGoFloat } from '../../shared/base/model/number.ts';
import { quote } from '../../shared/base/model/quote.ts';

describe('numbers', () => {
  test.each([
    ['1', 1],
    ['-1.50', -1.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['5.', 5],
    ['1_000', 1000],
    ['010', 10],
    ['0x1p4', 16],
    ['-0x1.8p1', -3],
    ['inf', Infinity],
    ['-Infinity', -Infinity],
    ['NaN', Number.NaN],
    ['1e999', Infinity],
    ['', undefined],
    ['0x1F', undefined],
    ['1__0', undefined],
    ['_1', undefined],
    ['1_', undefined],
    ['e5', undefined],
    ['1 ', undefined],
    [`${'1'.repeat(50_000)}x`, undefined],
  ])('%s', (text, want) => {
    expect(parseGoFloat(text)).toEqual(want);
  });

  test('the error names the text', () => {
    expect(parseFloatError('a"b')).toBe('strconv.ParseFloat: parsing "a\\"b": invalid syntax');
  });

  test.each([
    [1_000_000, '1000000'],
    [0.000_001, '0.000001'],
    [1e21, '1000000000000000000000'],
    [-1.5e-7, '-0.00000015'],
    [1.25e22, '12500000000000000000000'],
    [Number.NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [-0, '-0'],
  ])('%s prints %s', (value, want) => {
    expect(formatPlain(value)).toBe(want);
  });

  test('printed numbers parse again, without an exponent', () => {
    fc.assert(
      fc.property(fc.double(), value => {
        expect(formatPlain(value)).not.toMatch(/e/);
        expect(parseGoFloat(formatPlain(value))).toBe(value);
      }),
    );
  });
});

describe('byte sizes', () => {
  test.each([
    ['0', 0],
    ['1kB', 1000],
    ['1KiB', 1024],
    ['1.5 GiB', 1_610_612_736],
    ['1,000', 1000],
    ['20 mb', 20_000_000],
    ['1.9', 1],
  ])('%s', (text, want) => {
    expect(parseByteSize(text)).toBe(want);
  });

  test.each([
    ['', 'strconv.ParseFloat: parsing "": invalid syntax'],
    ['x', 'strconv.ParseFloat: parsing "": invalid syntax'],
    ['5xb', 'unhandled size name: xb'],
    ['20EB', 'too large: 20EB'],
  ])('%s is refused', (text, message) => {
    expect(() => parseByteSize(text)).toThrow(message);
  });

  test.each([
    [9, '9B'],
    [10, '10B'],
    [1024, '1.0kB'],
    [1_610_612_736, '1.6GB'],
    [12_345_000, '12MB'],
  ])('%s prints %s', (bytes, want) => {
    expect(formatByteSize(bytes)).toBe(want);
  });
});

test.each([
  ['plain text', '"plain text"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\n\t\r\u0007\u0000\u007f', '"\\n\\t\\r\\a\\x00\\x7f"'],
  ['größe 日本 🙂', '"größe 日本 🙂"'],
  ['\u200b\u00a0', '"\\u200b\\u00a0"'],
  ['\u{e0001}', '"\\U000e0001"'],
])('quote %j', (text, want) => {
  expect(quote(text)).toBe(want);
});

describe('bytes', () => {
  test('texts compare as their UTF-8 does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\uffff', '\ue000', '🙂', '日') });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  test('ranges are equal if their bytes are', () => {
    const bytes = Buffer.from('abcabd');
    expect(equalRange(bytes, 0, 2, bytes, 3, 5)).toBe(true);
    expect(equalRange(bytes, 0, 3, bytes, 3, 6)).toBe(false);
    expect(equalRange(bytes, 0, 2, bytes, 3, 6)).toBe(false);
    expect(equalRange(bytes, 1, 1, bytes, 6, 6)).toBe(true);
  });
});

describe('labels', () => {
  test('are sorted, each name once, and print as the canonical text', () => {
    const labels = labelsOf([
      ['b', '2'],
      ['a', '1'],
      ['b', 'x"y'],
    ]);
    expect(formatLabels(labels)).toBe('{a="1", b="x\\"y"}');
    expect(labelValue(labels, 'b')).toBe('x"y');
    expect(labelValue(labels, 'c')).toBeUndefined();
    expect(formatLabels([])).toBe('{}');
  });

  test('compare label by label, the shorter set first', () => {
    const sets = ['', 'a1', 'a1 b1', 'a2', 'b1'].map(text =>
      labelsOf(
        text
          .split(' ')
          .filter(Boolean)
          .map(([name, value]) => [name, value] as const),
      ),
    );
    for (let i = 0; i < sets.length; i++) {
      for (let j = 0; j < sets.length; j++)
        expect(Math.sign(compareLabels(sets[i], sets[j]))).toBe(Math.sign(i - j));
    }
  });

  test('become plain objects, for any names', () => {
    const object = labelsToObject(
      labelsOf([
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ]),
    );
    expect(JSON.stringify(object)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });
});

test('the cache keeps the most recently used values within its weight', () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 4);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  cache.set('a', 9, 11);
  expect(cache.get('a')).toBeUndefined();
  cache.set('c', 4, 1);
  cache.set('d', 5, 9);
  expect([cache.get('c'), cache.get('d'), cache.size]).toEqual([4, 5, 2]);
  cache.clear();
  expect([cache.get('d'), cache.size]).toEqual([undefined, 0]);
});

test('the pool reuses large buffers, of the requested length, within its bound', () => {
  const pool = new BufferPool(256 * 1024);
  const first = pool.take(100_000);
  expect(first.length).toBe(100_000);
  pool.give(first);
  const again = pool.take(99_000);
  expect(again.length).toBe(99_000);
  expect(again.buffer).toBe(first.buffer);
  expect(pool.take(100_000).buffer).not.toBe(first.buffer);
  const small = pool.take(100);
  pool.give(small);
  expect(pool.take(100).buffer).not.toBe(small.buffer);
  const large = pool.take(300 * 1024);
  pool.give(large);
  expect(pool.take(300 * 1024).buffer).not.toBe(large.buffer);
});
