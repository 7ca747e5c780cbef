import type { IndexSource } from '../../shared/storage/index/source.ts';

/** An index object in memory. */
export function bufferSource(object: Buffer): IndexSource {
  return { bytes: object.length, read: async (start, end) => object.subarray(start, end) };
}
