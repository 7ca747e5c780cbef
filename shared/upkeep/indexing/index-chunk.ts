/**
 * Adds the parts of large objects that only save query work: field columns in each page, one section with the
 * text index, and one that summarizes the fields. Queries on an object without them have the same results.
 */

import { invariant } from '../../base/model/errors.ts';
import { FieldColumnWriter } from '../../execution/fields/field-column-writer.ts';
import { FilterBuilder } from '../../execution/text-index/filter-builder.ts';
import { summariesOf } from '../../execution/text-index/page-summary.ts';
import { SummaryWriter } from '../../execution/text-index/summary-codec.ts';
import type { ChunkIndexer, ExtraColumn, ExtraSection } from '../../storage/chunk/chunk-indexer.ts';
import { ColumnKind, SectionKind } from '../../storage/chunk/format.ts';
import { QUICK_COMPRESSION } from '../../storage/codec/compression.ts';
import { fieldKey } from '../../storage/columns/column-field.ts';
import type { StoredExtras } from './stored-extras.ts';

/** Raw bytes of the lines of an object below which reading them costs less than checking its text index. */
const FILTER_FROM_BYTES = 256 * 1024;

/**
 * Indexes one object after the other with new state, and shares working memory between them. Pages of other
 * objects may be copied if the index parts of those objects are given.
 *
 * @param filterFromBytes raw bytes of lines from which an object gets sections
 */
export function chunkIndexers(
  filterFromBytes = FILTER_FROM_BYTES,
): (stored?: readonly StoredExtras[]) => ChunkIndexer {
  return (stored = []) => {
    const fieldWriter = new FieldColumnWriter({ compression: QUICK_COMPRESSION });
    const filters = new FilterBuilder();
    const summaries = new SummaryWriter();
    let lineBytes = 0;
    return {
      page(lines, lineOffsets, rows, metadata, { input, from, split }): readonly ExtraColumn[] {
        lineBytes += lines.length;
        const times = input.times.subarray(from, from + rows);
        const { columns, residuals, templateParsers } = fieldWriter.blocksOf(lines, lineOffsets, rows, {
          times,
          split,
        });
        filters.addPage(lines, lineOffsets, rows, { fields: fieldWriter.fields, metadata, split });
        summaries.addPage(summariesOf(fieldWriter.cells));
        const fieldColumns = columns.map(({ field, bytes, splitColumn }): ExtraColumn => {
          const name = fieldKey(field);
          return splitColumn === undefined
            ? { name, bytes }
            : { kind: ColumnKind.splitField, name, bytes, splitColumn };
        });
        if (templateParsers !== undefined)
          fieldColumns.unshift({ kind: ColumnKind.splitFrame, name: '', bytes: templateParsers });
        if (residuals !== undefined)
          fieldColumns.push({ kind: ColumnKind.residuals, name: '', bytes: residuals });
        return fieldColumns;
      },
      copied({ source, index, lineBytes: ofPage }): void {
        invariant(source < stored.length, 'pages are copied together with the extras of their object');
        lineBytes += ofPage;
        filters.addBuilt(stored[source].filter.page(index));
        summaries.addPage([...stored[source].summaries[index].values()]);
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
