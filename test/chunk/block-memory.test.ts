/** Memory of blocks that are loaded to be kept. */
import { expect, test } from '@jest/globals';
import {
  CODEC_RAW,
  CODEC_ZSTD,
  loadBlock,
  QUICK_COMPRESSION,
  storeBlockSync,
} from '../../shared/storage/codec/compression.ts';

test('a compressed block is loaded into memory of its size, not into a part of a larger buffer', () => {
  for (const length of [100, 5_000, 40_000]) {
    const raw = Buffer.alloc(length, 'a repeated text, ');
    const { bytes, ...block } = storeBlockSync(raw, QUICK_COMPRESSION);
    expect(block.codec).toBe(CODEC_ZSTD);
    const stored = Buffer.from(bytes);
    const loaded = loadBlock(stored, { ...block, offset: 0, storedBytes: stored.length }, 'a block');
    expect(loaded.equals(raw)).toBe(true);
    expect(loaded.buffer.byteLength).toBe(length);
  }
});

test('an uncompressed block is the stored bytes', () => {
  const { bytes, ...block } = storeBlockSync(Buffer.from('short'), QUICK_COMPRESSION);
  expect(block.codec).toBe(CODEC_RAW);
  const stored = Buffer.from(bytes);
  expect(loadBlock(stored, { ...block, offset: 0, storedBytes: stored.length }, 'a block')).toBe(stored);
});
