import { expect, test } from '@jest/globals';
import { StreamCache } from '../../shared/write/ingest/stream-cache.ts';
import { streamOf } from '../../shared/write/ingest/stream-table.ts';

const stream = streamOf([{ name: 'a', value: 'b' }]);

test('the stream cache keeps used streams and stays bounded', () => {
  const cache = new StreamCache();
  cache.set('used', stream);
  for (let i = 0; i < 100_000; i++) {
    cache.set(`key ${i}`, stream);
    if (i % 1000 === 0) expect(cache.get('used')).toBe(stream);
  }
  expect(cache.size).toBeLessThanOrEqual(2 * 16_384);
  expect(cache.get('key 0')).toBeUndefined();
  expect(cache.get('key 99999')).toBe(stream);
});

test('the stream cache bounds the characters of its keys, and caches no long ones', () => {
  const cache = new StreamCache();
  const tail = 'x'.repeat(4000);
  for (let i = 0; i < 5000; i++) cache.set(`${i} ${tail}`, stream);
  expect(cache.size).toBeLessThanOrEqual(2 * 1049);
  cache.set('y'.repeat(4097), stream);
  expect(cache.get('y'.repeat(4097))).toBeUndefined();
});
