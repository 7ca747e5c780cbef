/** `Packing` of a store whose chunks have a handful of short lines: several pages, filters, drafts, and rewriting page by page. */
import type { Packing } from '../../shared/upkeep/compaction/packing.ts';

export const TINY_PACKING: Packing = {
  pageBytes: 60,
  enrichedFromBytes: 80,
  finalFromBytes: 200,
  copiedFromBytes: 100,
};
