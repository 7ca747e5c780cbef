/** A thread that compresses itself merges with one batch of rows instead of two. */
import { expect, test } from '@jest/globals';
import { freePooledBuffers, pooledBytes } from '../../shared/base/model/buffer-pool.ts';
import { packInThisThread } from '../../shared/storage/codec/compression.ts';
import type { PlainEntry } from '../support/rows.ts';
import { inputsOf, merge } from './support/merge-chunks.ts';

/** Lines of a few batches, of which a page takes the end of one and the start of the next. */
function entriesOf(chunk: number): PlainEntry[] {
  return Array.from({ length: 900 }, (_, i) => ({
    stream: { app: `a${i % 3}` },
    time: 2 * i + chunk,
    line: `line ${i} of ${chunk}`.padEnd(500 + (i % 7) * 100, '.'),
    metadata: { trace: `t${i % 9}` },
  }));
}

test('a thread that compresses itself writes the same object, with less memory', async () => {
  const inputs = () => inputsOf([entriesOf(0), entriesOf(1), entriesOf(0).slice(0, 50)]);
  const options = { pageBytes: 100_000, batchBytes: 256 * 1024 };
  const held = async () => {
    freePooledBuffers();
    const { objects } = await merge(await inputs(), options);
    return { objects, bytes: pooledBytes() };
  };
  const two = await held();
  packInThisThread();
  const one = await held();
  expect(one.objects).toEqual(two.objects);
  expect(two.bytes - one.bytes).toBeGreaterThan(options.batchBytes);
});
