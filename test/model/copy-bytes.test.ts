import { expect, test } from '@jest/globals';
import { copyBytes } from '../../shared/base/model/copy-bytes.ts';

const MEMORIES: readonly (readonly [string, () => ArrayBufferLike])[] = [
  ['memory of a thread', () => new ArrayBuffer(64)],
  ['shared memory', () => new SharedArrayBuffer(64)],
];

test.each(
  MEMORIES.flatMap(([from, source]) => MEMORIES.map(([to, target]) => ({ from, source, to, target }))),
)('copies from $from to $to', ({ source, target }) => {
  const bytes = Buffer.from(source()).subarray(3, 13);
  for (let i = 0; i < bytes.length; i++) bytes[i] = i + 1;
  const into = Buffer.from(target());
  copyBytes(bytes, into, 50);
  expect([...into.subarray(48, 62)]).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0]);
});

test('copies nothing from an empty range', () => {
  const into = Buffer.alloc(4, 7);
  copyBytes(new Uint8Array(0), into, 4);
  expect([...into]).toEqual([7, 7, 7, 7]);
});

test('refuses bytes beyond the target', () => {
  expect(() => copyBytes(Buffer.alloc(3), Buffer.alloc(4), 2)).toThrow('out of range');
});
