/** Batches of a merge end where pages end, if possible. Pages, and so objects, do not depend on it. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { freePooledBuffers, pooledBytes } from '../../shared/base/model/buffer-pool.ts';
import { packInThisThread } from '../../shared/storage/codec/compression.ts';
import type { PlainEntry } from '../support/rows.ts';
import { inputsOf, merge } from './support/merge-chunks.ts';

const KIB = 1024;

/** Streams of some rows: [rows, bytes of a line, rows with one time]. */
const arbitraryStreams = fc.array(
  fc.tuple(
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 20, max: 900 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  { minLength: 1, maxLength: 20 },
);

test('objects do not depend on the size of batches', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryStreams, fc.integer({ min: 1, max: 30 }), async (streams, batchKib) => {
      const chunks = [0, 1].map(chunk =>
        streams.flatMap(([rows, bytes, ties], s) =>
          Array.from({ length: rows }, (_, i): PlainEntry => {
            const line = `line ${i} of ${chunk}`.padEnd(bytes + ((i * 7) % 50), '.');
            return { stream: { app: `a${s}` }, time: Math.floor((2 * i + chunk) / ties), line, metadata: {} };
          }),
        ),
      );
      const objects = async (batchBytes: number) => {
        return (await merge(await inputsOf(chunks), { pageBytes: 8 * KIB, batchBytes })).objects;
      };
      expect(await objects(batchKib * KIB)).toEqual(await objects(KIB * KIB));
    }),
    { numRuns: 60 },
  );
});

test('the rows of a long stream are not copied into open pages', async () => {
  packInThisThread();
  const entries = Array.from({ length: 6000 }, (_, i): PlainEntry => {
    return { stream: { app: 'a' }, time: i, line: `line ${i}`.padEnd(1000, '.'), metadata: {} };
  });
  const options = { pageBytes: KIB * KIB, batchBytes: 2 * KIB * KIB };
  freePooledBuffers();
  await merge(await inputsOf([entries]), options);
  // The batch, and the lines of the input.
  const perBatch = options.batchBytes + 2 * KIB * KIB;
  expect(pooledBytes()).toBeLessThan(perBatch + 2 * KIB * KIB);
});
