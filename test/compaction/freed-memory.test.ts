/**
 * A merge releases its memory when it ends, or leaves it to the next merge. It does not leave it to the garbage
 * collector.
 */
import { expect, test } from '@jest/globals';
import { freePooledBuffers, pooledBytes } from '../../shared/base/model/buffer-pool.ts';
import type { PlainEntry } from '../support/rows.ts';
import { inputsOf, merge } from './support/merge-chunks.ts';

const ROWS = 3000;

function entriesOf(chunk: number): PlainEntry[] {
  return Array.from({ length: ROWS }, (_, i) => ({
    stream: { app: `a${i % 3}` },
    time: 2 * i + chunk,
    line: `line ${i} of ${chunk}`,
    metadata: {},
  }));
}

test('frees the columns of its inputs and the rows that it put in order', async () => {
  const inputs = await inputsOf([entriesOf(0), entriesOf(1)]);
  const ofInputs: ArrayLike<number>[] = [];
  const ordered: ArrayLike<number>[] = [];
  const { summary } = await merge(inputs, {
    pageBytes: 4096,
    batchBytes: 16_384,
    dropRows(page) {
      expect(page.times).toHaveLength(page.rows);
      ofInputs.push(page.times, page.lineOffsets);
      return undefined;
    },
    indexer: () => ({
      page(_lines, _offsets, _rows, _metadata, { input }) {
        expect(input.times).toHaveLength(input.rows);
        // Rows of an unfinished batch are copied before they are encoded.
        if (input.sources[0].length > 16_384) ordered.push(input.times, input.lineEnd);
        return [];
      },
      finish: () => [],
    }),
  });
  expect(summary.rowsOut).toBe(2 * ROWS);
  expect(ordered.length).toBeGreaterThan(0);
  for (const array of [...ofInputs, ...ordered]) expect(array).toHaveLength(0);
});

test('uses the memory of one merge for the next one', async () => {
  const inputs = () => inputsOf([entriesOf(0), entriesOf(1)]);
  await merge(await inputs());
  const held = pooledBytes();
  expect(held).toBeGreaterThan(0);
  await merge(await inputs());
  expect(pooledBytes()).toBe(held);
  freePooledBuffers();
  expect(pooledBytes()).toBe(0);
});
