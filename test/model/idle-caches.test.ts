import { expect, test } from '@jest/globals';
import { IdleCaches } from '../../shared/base/model/idle-caches.ts';
import { LruCache } from '../../shared/base/model/lru.ts';

function filled(): LruCache<string, number> {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1);
  return cache;
}

test('a cache is emptied after the given number of checks without a use', () => {
  const cache = filled();
  const idle = new IdleCaches(3, 3);
  idle.add(cache);
  expect([idle.check(), idle.check(), cache.size]).toEqual([0, 0, 1]);
  expect([idle.check(), cache.size, cache.heldWeight]).toEqual([1, 0, 0]);
  expect([idle.check(), idle.check()]).toEqual([0, 0]);
});

test.each([
  ['found', 'a'],
  ['not found', 'b'],
])('a use restarts the count: %s', (_, key) => {
  const cache = filled();
  const idle = new IdleCaches(2, 2);
  idle.add(cache);
  idle.check();
  cache.get(key);
  expect([idle.check(), idle.check(), cache.size]).toEqual([0, 0, 1]);
  expect([idle.check(), cache.size]).toEqual([1, 0]);
});

test('each cache counts by itself', () => {
  const [used, unused] = [filled(), filled()];
  const idle = new IdleCaches(1, 1);
  idle.add(used, unused);
  used.get('a');
  expect(idle.check()).toBe(1);
  expect([used.size, unused.size]).toEqual([1, 0]);
});

test('a cache that is filled again is emptied again', () => {
  const cache = filled();
  const idle = new IdleCaches(1, 1);
  idle.add(cache);
  idle.check();
  cache.get('a');
  cache.set('a', 1);
  expect([idle.check(), cache.size]).toEqual([0, 1]);
  expect([idle.check(), cache.size]).toEqual([1, 0]);
});

test('removes an entry that was not used for a whole period from a cache in use', () => {
  const cache = filled();
  cache.set('b', 2, 3);
  const idle = new IdleCaches(3, 3);
  idle.add(cache);
  const checks = (times: number) =>
    Array.from({ length: times }, () => {
      cache.get('b');
      return idle.check();
    });
  expect([checks(5), cache.size]).toEqual([[0, 0, 0, 0, 0], 2]);
  expect([checks(1), cache.size, cache.heldWeight]).toEqual([[1], 1, 3]);
  expect([checks(6), cache.get('a'), cache.get('b')]).toEqual([[0, 0, 0, 0, 0, 0], undefined, 2]);
});

test('periods may be shorter than the time without use after which a cache is emptied', () => {
  const used = filled();
  used.set('b', 2);
  const unused = new LruCache<string, number>(10);
  const idle = new IdleCaches(4, 1);
  idle.add(used, unused);
  const checks = [1, 2, 3, 4].map(() => {
    used.get('b');
    return idle.check();
  });
  expect([checks, used.get('a'), used.get('b')]).toEqual([[0, 1, 0, 1], undefined, 2]);
});
