/** Pages of a file that are compressed in parallel. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { MAX_HELD_BYTES, PagePacker } from '../../shared/server/open-data/page-packer.ts';

/** Compressions that the test ends. */
function openCompressions() {
  const open: PromiseWithResolvers<Buffer>[] = [];
  const compress = () => {
    const compression = Promise.withResolvers<Buffer>();
    open.push(compression);
    return compression.promise;
  };
  return { open, packer: new PagePacker(compress) };
}

describe('pages that are compressed in parallel', () => {
  test('are written in order, with memory that the caller uses again', async () => {
    const packer = new PagePacker();
    const memory = Buffer.alloc(2_000_000);
    const sizes = [1_000_000, 10, 0, 786_433, 786_432, 300_000, 1, 2_000_000];
    const written: number[][] = [];
    for (const [i, size] of sizes.entries()) {
      memory.fill(i + 1);
      await packer.pack(memory.subarray(0, size), packed => {
        const page = size === 0 ? packed : zstdDecompressSync(packed);
        written.push([page.length, page[0] ?? 0, page.at(-1) ?? 0]);
      });
      packer.inOrder(() => written.push([i]));
    }
    await packer.end();
    expect(written).toEqual(sizes.flatMap((size, i) => [size === 0 ? [0, 0, 0] : [size, i + 1, i + 1], [i]]));
  });

  test('wait for the oldest if they hold too much memory', async () => {
    const { open, packer } = openCompressions();
    const page = Buffer.alloc(MAX_HELD_BYTES / 2);
    const written: number[] = [];
    const pack = (number: number) => packer.pack(page, () => void written.push(number));
    await pack(0);
    await pack(1);
    let isReady = false;
    const third = pack(2).then(() => {
      isReady = true;
    });
    open[1].resolve(page);
    open[2].resolve(page);
    await nextTurn();
    expect([isReady, written]).toEqual([false, []]);
    open[0].resolve(page);
    await third;
    await packer.end();
    expect(written).toEqual([0, 1, 2]);
  });

  test('end with the error of a page, after which none is written', async () => {
    const { open, packer } = openCompressions();
    const written: number[] = [];
    for (const number of [0, 1, 2]) await packer.pack(Buffer.alloc(10), () => void written.push(number));
    open[2].resolve(Buffer.alloc(1));
    open[1].reject(new Error('no memory'));
    open[0].resolve(Buffer.alloc(1));
    await expect(packer.end()).rejects.toThrow('no memory');
    expect(written).toEqual([0]);
  });
});
