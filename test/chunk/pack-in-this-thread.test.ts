import { expect, jest, test } from '@jest/globals';
import {
  CODEC_ZSTD,
  COMPACTION_COMPRESSION,
  loadBlock,
  PUSH_COMPRESSION,
  packInThisThread,
  storeBlock,
} from '../../shared/storage/codec/compression.ts';
import { ZstdEncoder } from '../../shared/storage/codec/zstd-encoder.ts';

/** Compresses to about a half. */
function textOf(bytes: number): Buffer {
  const text = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i++) text[i] = 97 + (Math.imul(i, 2_654_435_761) >>> 29);
  return text;
}

test('a thread that compresses by itself writes the same blocks as the pool, of any size', async () => {
  const pooled = jest.spyOn(ZstdEncoder.prototype, 'pack');
  const blocks = [10, 100, 70_000, 1_000_000, 3_000_000].map(textOf);
  for (const compression of [PUSH_COMPRESSION, COMPACTION_COMPRESSION]) {
    for (const raw of blocks) await storeBlock(raw, compression);
  }
  expect(pooled).toHaveBeenCalledTimes(6);
  packInThisThread();
  for (const compression of [PUSH_COMPRESSION, COMPACTION_COMPRESSION]) {
    for (const raw of blocks) {
      const { bytes, ...block } = await storeBlock(raw, compression);
      const stored = Buffer.from(bytes);
      const read = loadBlock(stored, { ...block, offset: 0, storedBytes: stored.length }, 'a block');
      expect(read.equals(raw)).toBe(true);
      expect(block.codec === CODEC_ZSTD).toBe(raw.length > 10);
    }
  }
  expect(pooled).toHaveBeenCalledTimes(6);
});
