import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { handleOf } from '../../shared/storage/codec/zstd-handle.ts';
import { MAX_SYNC_BYTES, ZstdSyncEncoder } from '../../shared/storage/codec/zstd-sync-encoder.ts';

const LEVEL_1 = { [constants.ZSTD_c_compressionLevel]: 1 };

test('frames of one encoder are independent, those that do not compress among them', () => {
  const encoder = new ZstdSyncEncoder(LEVEL_1);
  const raw = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 70_000 }),
    fc
      .tuple(fc.string({ minLength: 1 }), fc.nat(10_000))
      .map(([text, n]) => Buffer.from(text.repeat(n + 1).slice(0, 70_000))),
  );
  fc.assert(
    fc.property(fc.array(raw, { minLength: 1, maxLength: 10 }), list => {
      const frames = list.map(bytes => encoder.pack(bytes));
      for (const [i, frame] of frames.entries()) {
        expect(Buffer.compare(zstdDecompressSync(frame), list[i])).toBe(0);
      }
    }),
    { numRuns: 60 },
  );
});

test('the handle is used here, and blocks of maximum size fit with any contents', () => {
  let opened = 0;
  const encoder = new ZstdSyncEncoder(LEVEL_1, MAX_SYNC_BYTES, params => {
    opened++;
    return handleOf(createZstdCompress({ params, chunkSize: 64 }));
  });
  expect(encoder.usesHandle).toBe(true);
  const noise = Buffer.from(
    Array.from({ length: MAX_SYNC_BYTES }, (_, i) => (Math.imul(i, 2_654_435_761) >>> 13) & 255),
  );
  expect(zstdDecompressSync(encoder.pack(noise)).equals(noise)).toBe(true);
  expect(opened).toBe(1);
});

test('a runtime without the handle gets the public call', () => {
  const encoder = new ZstdSyncEncoder(LEVEL_1, MAX_SYNC_BYTES, () => undefined);
  expect(encoder.usesHandle).toBe(false);
  const raw = Buffer.from('a line, '.repeat(100));
  expect(encoder.pack(raw).equals(zstdCompressSync(raw, { params: LEVEL_1 }))).toBe(true);
});
