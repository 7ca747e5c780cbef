import { createHash } from 'node:crypto';
import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contentSize } from '../../shared/storage/codec/zstd-frame.ts';
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

test('a frame with given ends of blocks has the same bytes, and their number in its header', () => {
  const encoder = new ZstdSyncEncoder(LEVEL_1);
  const parts = fc.array(
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3000 }),
      fc.tuple(fc.nat(255), fc.integer({ min: 1, max: 3000 })).map(([byte, n]) => Buffer.alloc(n, byte)),
    ),
    { minLength: 1, maxLength: 9 },
  );
  fc.assert(
    fc.property(parts, list => {
      const raw = Buffer.concat(list);
      let end = 0;
      const ends = list.slice(0, -1).map(({ length }) => {
        end += length;
        return end;
      });
      const frame = encoder.pack(raw, ends);
      expect(zstdDecompressSync(frame).equals(raw)).toBe(true);
      expect(contentSize(frame)).toBe(raw.length);
    }),
    { numRuns: 100 },
  );
});

test('parts with other statistics take less in separate blocks', () => {
  const encoder = new ZstdSyncEncoder(LEVEL_1);
  const hashes = Array.from({ length: 150 }, (_, i) => createHash('sha256').update(`${i}`).digest());
  const noise = Buffer.concat(hashes);
  const few = noise.map(byte => byte & 3);
  const raw = Buffer.concat([few, noise]);
  expect(encoder.pack(raw, [few.length]).length).toBeLessThan(0.97 * encoder.pack(raw).length);
});
