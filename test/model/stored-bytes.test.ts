import { expect, test } from '@jest/globals';
import {
  copyOfStoredBytes,
  returnIfPooled,
  returnStoredBytes,
  takeStoredBytes,
} from '../../shared/base/model/stored-bytes.ts';

const KIB = 1024;

// [bytes]
test.each([100, 16 * KIB - 1, 16 * KIB, 50 * KIB])(
  'a copy of %i bytes does not change with the original',
  bytes => {
    const original = Buffer.alloc(bytes, 7);
    const copy = copyOfStoredBytes(original);
    original.fill(8);
    expect(copy.equals(Buffer.alloc(bytes, 7))).toBe(true);
  },
);

test('memory is used again once it is returned, and not before', () => {
  const first = takeStoredBytes(40 * KIB);
  expect(takeStoredBytes(40 * KIB).buffer).not.toBe(first.buffer);
  returnIfPooled(first);
  expect(copyOfStoredBytes(Buffer.alloc(40 * KIB)).buffer).toBe(first.buffer);
});

test('other memory is freed, or left alone', () => {
  const [freed, left] = [Buffer.allocUnsafeSlow(100), Buffer.allocUnsafeSlow(100)];
  returnStoredBytes(freed);
  returnIfPooled(left);
  expect([freed.length, left.length]).toEqual([0, 100]);
});
