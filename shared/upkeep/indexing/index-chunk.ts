/**
 * What large objects hold beside their entries: promoted columns in each page, one section of text filters, and one that sums
 * up the fields. All only save queries work; an object without them answers the same.
 */

import { invariant } from '../../base/model/errors.ts';
import { FieldColumnWriter } from '../../execution/fields/field-column-writer.ts';
import { FilterBuilder } from '../../execution/text-index/filter-builder.ts';
import { summariesOf } from '../../execution/text-index/page-summary.ts';
import { SummaryWriter } from '../../execution/text-index/summary-codec.ts';
import type { ExtraColumn, ExtraSection, PatchEnricher } from '../../storage/chunk/chunk-indexer.ts';
import { ColumnKind, SectionKind } from '../../storage/chunk/format.ts';
import { QUICK_COMPRESSION } from '../../storage/codec/compression.ts';
import { fieldKey } from '../../storage/columns/promoted-field.ts';
import type { StoredExtras } from './stored-extras.ts';

/** Raw bytes of the lines of an object below which reading them costs less than asking its filter. */
const FILTER_FROM_BYTES = 256 * 1024;

/**
 * One object after the other; each is begun anew. Room to work in is shared by them. Pages of another object may be copied where
 * what that one holds is given.
 *
 * @param filterFromBytes raw bytes of lines from which on an object has sections
 */
export function chunkEnrichers(
  filterFromBytes = FILTER_FROM_BYTES,
): (stored?: StoredExtras) => PatchEnricher {
  return stored => {
    const promoter = new FieldColumnWriter({ compression: QUICK_COMPRESSION });
    const filters = new FilterBuilder();
    const summaries = new SummaryWriter();
    let lineBytes = 0;
    return {
      page(lines, lineOffsets, rows, metadata, { input, from }): readonly ExtraColumn[] {
        lineBytes += lines.length;
        const times = input.times.subarray(from, from + rows);
        const { columns, rests } = promoter.blocksOf(lines, lineOffsets, rows, { times });
        filters.addPage(lines, lineOffsets, rows, { fields: promoter.fields, metadata });
        summaries.addPage(summariesOf(promoter.cells));
        const promoted: ExtraColumn[] = columns.map(({ field, bytes }) => ({ name: fieldKey(field), bytes }));
        if (rests !== undefined) promoted.push({ kind: ColumnKind.rests, name: '', bytes: rests });
        return promoted;
      },
      copied(place, ofPage): void {
        invariant(stored !== undefined, 'pages are copied with what their object says of them');
        lineBytes += ofPage;
        filters.addBuilt(stored.filter.page(place));
        summaries.addPage([...stored.summaries[place].values()]);
      },
      finish(): readonly ExtraSection[] {
        if (lineBytes < filterFromBytes) return [];
        return [
          { kind: SectionKind.filter, bytes: filters.finish() },
          { kind: SectionKind.summaries, bytes: summaries.finish() },
        ];
      },
    };
  };
}
