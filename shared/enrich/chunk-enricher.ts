/**
 * What large objects hold beside their entries: promoted columns in each page, and one section of text filters. Both only
 * save queries work; an object without them answers the same.
 */
import { QUICK_COMPRESSION } from '../chunk/compression.ts';
import type { ChunkEnricher, ExtraColumn, ExtraSection } from '../chunk/enricher.ts';
import { SectionKind } from '../chunk/format.ts';
import { FilterBuilder, newFactRoom } from '../filter/filter-builder.ts';
import { fieldKey } from '../promoted/promoted-field.ts';
import { Promoter } from '../promoted/promotion.ts';

/** Raw bytes of the lines of an object below which reading them costs less than asking its filter. */
const FILTER_FROM_BYTES = 256 * 1024;

/** One object after the other; each is begun anew. Room to work in is shared by them. */
export function chunkEnrichers(): () => ChunkEnricher {
  const room = newFactRoom();
  return () => {
    const promoter = new Promoter({ compression: QUICK_COMPRESSION });
    const filters = new FilterBuilder(room);
    let lineBytes = 0;
    return {
      page(lines, lineOffsets, rows): readonly ExtraColumn[] {
        lineBytes += lines.length;
        filters.addPage(lines, lineOffsets, rows);
        return promoter
          .columnsOf(lines, lineOffsets, rows)
          .map(({ field, bytes }) => ({ name: fieldKey(field), bytes }));
      },
      finish(): readonly ExtraSection[] {
        if (lineBytes < FILTER_FROM_BYTES) return [];
        return [{ kind: SectionKind.filter, bytes: filters.finish() }];
      },
    };
  };
}
