/**
 * How thoroughly merges encode what they write. Text indexes, field columns and thorough compression are two
 * thirds of a merge's cost, which is wasted on rows that are encoded again within the hour, because they do not fill a
 * page. So there are two qualities:
 *
 *     draft   of level 1 only: compressed as a push is, entries only
 *     final   of any level: thorough compression, and from `indexedFromBytes` on text index and field columns
 *
 * Pitfall: a draft is temporary. Chunks of level 0 or 1 that remain in a day that is over, or after a flush,
 * are merged once more alone (`isUnfinished`), so no chunk stays a draft because a forecast was wrong.
 */
import { PAGE_TARGET_BYTES } from '../../storage/chunk/format.ts';

export type Quality = 'draft' | 'final';

/** Raw bytes of lines, for all fields. */
export interface MergeSizes {
  /** Size of a page; see PAGE_TARGET_BYTES. */
  readonly pageBytes: number;
  /** For smaller chunks, reading them costs a query no more than checking a text index. */
  readonly indexedFromBytes: number;
  /**
   * Smaller outputs of 5-minute windows are drafts. Others fill a page, which the merge of the hour copies as it is, so they
   * are encoded well at once.
   */
  readonly finalFromBytes: number;
  /**
   * Pushes of a tenant with so much are merged within seconds while more come: searching them takes 100 ms. Smaller
   * merges would cost more for each byte.
   */
  readonly awaitedBytes: number;
  /**
   * Chunks of this size are rewritten alone, and pages without a row to remove are copied. Smaller ones have
   * few pages to copy, and merging them is better: fewer objects mean fewer requests for each query.
   */
  readonly copiedFromBytes: number;
  /**
   * Lines of 5 minutes for each part of the streams (window-parts.ts). The day is planned ten times in 5 minutes. With four
   * merges of 64 MiB of each part in every plan, several functions have work.
   */
  readonly windowBytesOfPart: number;
  /** Lines of a merge for each part that it writes: half of a full merge, so that chunks do not become many. */
  readonly mergeBytesOfPart: number;
}

export const MERGE_SIZES: MergeSizes = {
  pageBytes: PAGE_TARGET_BYTES,
  indexedFromBytes: 256 * 1024,
  finalFromBytes: PAGE_TARGET_BYTES,
  awaitedBytes: 8 * PAGE_TARGET_BYTES,
  copiedFromBytes: 4 * PAGE_TARGET_BYTES,
  windowBytesOfPart: 40 * 64 * 1024 * 1024,
  mergeBytesOfPart: 32 * 1024 * 1024,
};

/** Returns the sizes for parts of another size. @param partBytes lines of 5 minutes for each part */
export function sizesOfParts(partBytes: number): MergeSizes {
  const mergeBytesOfPart = Math.min(partBytes, MERGE_SIZES.mergeBytesOfPart);
  return { ...MERGE_SIZES, windowBytesOfPart: partBytes, mergeBytesOfPart };
}

/** The highest level of drafts. */
export const DRAFT_LEVEL = 1;
/** The lowest level of final chunks. */
export const FINAL_LEVEL = 2;

/**
 * Returns true for a chunk that may be a draft, or is as it was pushed, and is large enough to be encoded
 * well.
 */
export function isUnfinished(
  { level, lineBytes }: { readonly level: number; readonly lineBytes: number },
  { indexedFromBytes }: MergeSizes,
): boolean {
  return level <= DRAFT_LEVEL && lineBytes >= indexedFromBytes;
}
