import { expect, test } from '@jest/globals';
import {
  BufferPool,
  freePooledBuffers,
  POOLED_BUFFERS,
  pooledBytes,
} from '../../shared/base/model/buffer-pool.ts';
import { freeBytes, freeLarge } from '../../shared/base/model/free-bytes.ts';

const KIB = 1024;

test('a buffer that is given back is used again', () => {
  const pool = new BufferPool(1024 * KIB);
  const first = pool.take(100 * KIB);
  pool.give(first);
  expect(pool.heldBytes).toBe(112 * KIB);
  expect(pool.take(110 * KIB).buffer).toBe(first.buffer);
  expect(pool.heldBytes).toBe(0);
});

test('a buffer that is given back twice is used once', () => {
  const pool = new BufferPool(1024 * KIB);
  const buffer = pool.take(100 * KIB);
  expect([pool.give(buffer), pool.give(buffer)]).toEqual([true, false]);
  expect(pool.take(100 * KIB).buffer).not.toBe(pool.take(100 * KIB).buffer);
});

test('a pool may have smaller buffers than 64 KiB', () => {
  const pool = new BufferPool(1024 * KIB, { minBytes: 16 * KIB });
  const [small, large] = [pool.take(16 * KIB - 1), pool.take(20 * KIB)];
  expect([pool.give(small), pool.give(large)]).toEqual([false, true]);
});

// [requested bytes, bytes of memory]
test.each([
  [64 * KIB, 64 * KIB],
  [64 * KIB + 1, 80 * KIB],
  [257 * KIB, 320 * KIB],
  [449 * KIB, 512 * KIB],
  [1024 * KIB - 1, 1024 * KIB],
])('a buffer of %i bytes takes %i: at most a quarter more', (bytes, size) => {
  const buffer = new BufferPool(0).take(bytes);
  expect([buffer.length, buffer.buffer.byteLength]).toEqual([bytes, size]);
});

test('shared buffers are pooled from 4 KiB on', () => {
  const pool = new BufferPool(1024 * KIB, { isShared: true });
  const [small, large] = [pool.take(4 * KIB - 1), pool.take(10 * KIB)];
  for (const buffer of [small, large]) pool.give(buffer);
  expect(pool.heldBytes).toBe(10 * KIB);
  expect(pool.take(9 * KIB).buffer).toBe(large.buffer);
});

test('a buffer beyond the bound is freed', () => {
  const pool = new BufferPool(128 * KIB);
  const buffers = [pool.take(128 * KIB), pool.take(128 * KIB)];
  for (const buffer of buffers) pool.give(buffer);
  expect(buffers.map(({ byteLength }) => byteLength)).toEqual([128 * KIB, 0]);
});

test('buffers that wait are freed on demand, in all pools', () => {
  freePooledBuffers();
  const pools = [new BufferPool(1024 * KIB), new BufferPool(1024 * KIB)];
  const buffers = pools.map(pool => pool.take(64 * KIB));
  for (const [i, pool] of pools.entries()) pool.give(buffers[i]);
  expect(pooledBytes()).toBe(128 * KIB);
  freePooledBuffers();
  expect([pooledBytes(), ...buffers.map(({ byteLength }) => byteLength)]).toEqual([0, 0, 0]);
  expect(pools[0].take(64 * KIB)).toHaveLength(64 * KIB);
});

// Merges of an hour use other sizes than merges of pushes, and their buffers stayed next to those of later merges.
test('buffers that no one takes in a period are freed at its end; others stay', () => {
  freePooledBuffers();
  const pool = new BufferPool(1024 * KIB);
  const unusual = [pool.take(256 * KIB), pool.take(128 * KIB)];
  const usual = [pool.take(64 * KIB), pool.take(64 * KIB), pool.take(64 * KIB)];
  for (const buffer of [...unusual, ...usual]) pool.give(buffer);
  // Given in this period.
  expect([POOLED_BUFFERS.dropUnused?.(), pool.heldBytes]).toEqual([0, 576 * KIB]);
  const { hits } = POOLED_BUFFERS;
  for (let merge = 0; merge < 3; merge++) {
    const inUse = [pool.take(64 * KIB), pool.take(64 * KIB)];
    for (const buffer of inUse) pool.give(buffer);
  }
  expect(POOLED_BUFFERS.hits - hits).toBe(6);
  // The two unusual ones, and one of the usual size, of which no more than two were in use.
  expect([POOLED_BUFFERS.dropUnused?.(), pool.heldBytes]).toEqual([3, 128 * KIB]);
  expect(unusual.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
  // A size that is taken again after all its buffers were freed.
  pool.give(pool.take(256 * KIB));
  expect(pool.heldBytes).toBe(384 * KIB);
  // Nothing was taken since but that buffer.
  expect([POOLED_BUFFERS.dropUnused?.(), pool.heldBytes]).toEqual([2, 256 * KIB]);
  expect([POOLED_BUFFERS.dropUnused?.(), pooledBytes()]).toEqual([1, 0]);
});

test('shared memory and parts of a buffer are not freed', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(8));
  const whole = new Uint8Array(8);
  freeBytes(shared);
  freeBytes(whole.subarray(1));
  expect([shared.length, whole.length]).toEqual([8, 8]);
  freeBytes(whole);
  expect(whole).toHaveLength(0);
});

test('small content is not freed, because Node cuts it from a buffer that it shares', () => {
  const small = Buffer.from('a');
  const large = Buffer.allocUnsafeSlow(1024 * KIB + 1);
  freeLarge(small);
  freeLarge(large.subarray(1));
  expect([small.length, large.length]).toEqual([1, 0]);
});

test('memory that the pool did not make is left alone, as that which Node cuts small buffers from', () => {
  const pool = new BufferPool(1024 * KIB);
  for (const other of [
    Buffer.from('a'),
    Buffer.allocUnsafeSlow(64 * KIB),
    new BufferPool(KIB).take(64 * KIB),
  ]) {
    pool.give(other);
    expect(pool.heldBytes).toBe(0);
    expect(other.length).toBeGreaterThan(0);
  }
});
