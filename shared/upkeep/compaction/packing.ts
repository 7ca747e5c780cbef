/**
 * How well merges pack what they write. Filters, promoted columns and thorough compression are two thirds of what a merge
 * costs, and of what is merged again within the hour all of it is in vain. So there are two qualities:
 *
 *     draft   of level 1 only: compressed as a push is, entries alone
 *     final   of any level: thorough compression, and from `enrichedFromBytes` on filters and promoted columns
 *
 * A reader would get wrong: a draft is never more than a promise. What is left of level 0 or 1, in a day that is over or
 * behind a flush, is packed once more by itself (`isUnfinished`), so nothing stays a draft because a forecast was wrong.
 */
import { PAGE_TARGET_BYTES } from '../../storage/chunk/format.ts';

export type Quality = 'draft' | 'final';

/** Raw bytes of lines, all of them. */
export interface Packing {
  /** Of a page; see PAGE_TARGET_BYTES. */
  readonly pageBytes: number;
  /** Reading fewer costs no query more than asking a filter. */
  readonly enrichedFromBytes: number;
  /** What a 5-minute window has made is a draft below this: 100 ms of reading, for an hour at most. Pushes of so much are enriched. */
  readonly finalFromBytes: number;
  /**
   * Chunks of so much are rewritten by themselves, and pages without a row that goes are copied. Smaller ones have few pages
   * to copy, and are better joined: fewer objects, fewer requests for each query.
   */
  readonly copiedFromBytes: number;
}

export const PACKING: Packing = {
  pageBytes: PAGE_TARGET_BYTES,
  enrichedFromBytes: 256 * 1024,
  finalFromBytes: 8 * 1024 * 1024,
  copiedFromBytes: 4 * PAGE_TARGET_BYTES,
};

/** The highest level of drafts. */
export const DRAFT_LEVEL = 1;
/** The lowest level of what is packed for good. */
export const FINAL_LEVEL = 2;

/** True of a chunk that may be a draft, or just as it was pushed, and is large enough to be worth more. */
export function isUnfinished(
  { level, lineBytes }: { readonly level: number; readonly lineBytes: number },
  { enrichedFromBytes }: Packing,
): boolean {
  return level <= DRAFT_LEVEL && lineBytes >= enrichedFromBytes;
}
