import { constants, createZstdCompress, type ZstdCompress, zstdDecompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BufferPool } from '../../shared/base/model/buffer-pool.ts';
import { PUSH_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { ZstdEncoder } from '../../shared/storage/codec/zstd-encoder.ts';

test.each([
  ['new memory', {}],
  ['memory of a pool', { outputBytes: 300_000, frames: new BufferPool(1_000_000) }],
])('concurrent frames of one encoder are independent, with %s', async (_, options) => {
  const encoder = new ZstdEncoder(PUSH_COMPRESSION, options);
  const raw = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 500_000 }),
    fc
      .tuple(fc.string({ minLength: 1 }), fc.nat(100_000))
      .map(([text, n]) => Buffer.from(text.repeat(n + 1).slice(0, 2_000_000))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(raw, { minLength: 1, maxLength: 12 }), async list => {
      const frames = await Promise.all(list.map(bytes => encoder.pack(bytes)));
      const unpacked = frames.map(frame => zstdDecompressSync(frame));
      expect(unpacked.map((bytes, i) => Buffer.compare(bytes, list[i]))).toEqual(list.map(() => 0));
    }),
    { numRuns: 15 },
  );
});

test('bytes that do not compress come out whole', async () => {
  const encoder = new ZstdEncoder({ [constants.ZSTD_c_compressionLevel]: 1 });
  const noise = Buffer.from(
    Array.from({ length: 700_000 }, (_, i) => (Math.imul(i, 2_654_435_761) >>> 13) & 255),
  );
  const frame = await encoder.pack(noise);
  expect(zstdDecompressSync(frame).equals(noise)).toBe(true);
});

test('a stream that was closed behind its back gives an error, never an empty frame, and is replaced', async () => {
  const streams: ZstdCompress[] = [];
  const createStream: typeof createZstdCompress = options => {
    streams.push(createZstdCompress(options));
    return streams.at(-1)!;
  };
  const encoder = new ZstdEncoder({ [constants.ZSTD_c_compressionLevel]: 1 }, { createStream });
  const raw = Buffer.alloc(200_000, 'line after line, ');
  await encoder.pack(raw);
  streams[0].destroy();
  await expect(encoder.pack(raw)).rejects.toThrow();
  expect(zstdDecompressSync(await encoder.pack(raw)).equals(raw)).toBe(true);
});
