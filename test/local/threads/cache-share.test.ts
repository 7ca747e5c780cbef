import { expect, test } from '@jest/globals';
import { cacheShare } from '../../../local/threads/cache-share.ts';

const shares = (threads: number) =>
  Array.from({ length: threads + 1 }, (_, index) => cacheShare(1600, threads, index));

test.each([
  // Two cores: the thread that works has nearly all.
  [1, [1400, 200]],
  [3, [466, 466, 466, 200]],
  [7, [200, 200, 200, 200, 200, 200, 200, 200]],
  // The spare one never has more than the others.
  [9, [160, 160, 160, 160, 160, 160, 160, 160, 160, 160]],
])('%i threads and the spare one cache together what the process may', (threads, expected) => {
  expect(shares(threads)).toEqual(expected);
});
