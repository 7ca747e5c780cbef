import { describe, expect, test } from '@jest/globals';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { streamHash, xxh64 } from '../../shared/base/model/stream-hash.ts';

describe('the 64-bit xxHash', () => {
  // Published values, of each path: below 4, 8 and 32 bytes, and above.
  test.each([
    ['', 'ef46db3751d8e999'],
    ['a', 'd24ec4f1a98c6e5b'],
    ['abc', '44bc2cf5ad770999'],
    ['Nobody inspects the spammish repetition', 'fbcea83c8a378bf1'],
    ['The quick brown fox jumps over the lazy dog', '0b242d361fda71bc'],
  ])('%j', (text, want) => {
    expect(xxh64(Buffer.from(text)).toString(16).padStart(16, '0')).toBe(want);
  });
});

test('of labels it is that of names and values, each followed by the byte 0xff', () => {
  const labels = labelsOf({ app: 'größe', b: '' });
  const bytes = Buffer.concat([
    Buffer.from('app\u00ff', 'latin1'),
    Buffer.from('größe'),
    Buffer.from('\u00ffb\u00ff\u00ff', 'latin1'),
  ]);
  expect(streamHash(labels)).toBe(xxh64(bytes));
  expect(streamHash(labels)).toBe(streamHash(labelsOf({ b: '', app: 'größe' })));
  expect(streamHash([])).toBe(xxh64(Buffer.alloc(0)));
});
