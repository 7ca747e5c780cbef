/** `MergeSizes` of a store whose chunks have a handful of short lines: several pages, filters, drafts, and rewriting page by page. */
import type { MergeSizes } from '../../shared/upkeep/compaction/merge-sizes.ts';

export const TINY_MERGE_SIZES: MergeSizes = {
  pageBytes: 60,
  indexedFromBytes: 80,
  finalFromBytes: 200,
  awaitedBytes: 400,
  copiedFromBytes: 100,
  windowBytesOfPart: 20,
  mergeBytesOfPart: 10,
};

/** Every merge is final, so that later ones copy its pages. */
export const COPYING_MERGE_SIZES: MergeSizes = {
  ...TINY_MERGE_SIZES,
  pageBytes: 30,
  indexedFromBytes: 0,
  finalFromBytes: 0,
};
