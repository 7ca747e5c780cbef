/**
 * Formats entries of an export as bytes of a file: text (only lines), JSON lines or CSV, or as columns for programs. The store formats
 * them directly from the lines of its pages. A client that parses and formats JSON itself needs four times
 * the CPU time of both sides.
 */
import { labelsToObject } from '../../base/model/labels.ts';
import type { LabelCategories } from '../../execution/pipeline/label-map.ts';
import type { ExportedRows } from '../../read/query/export-query.ts';
import { type EntryLabels, encodeColumns } from '../open-data/entry-columns.ts';
import { fileFormat, type TextFormat } from '../open-data/text-format.ts';

export type ExportEncoding = TextFormat | 'columns';

export const EXPORT_FORMATS: readonly ExportEncoding[] = ['text', 'jsonl', 'csv', 'columns'];

export const EXPORT_TYPES: Readonly<Record<ExportEncoding, string>> = {
  text: 'text/plain; charset=utf-8',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  columns: 'application/vnd.logboom.columns',
};

/** @param yieldSlice called after each MiB, so that other requests can run */
export async function encodeExport(
  { rows, dayStartNs }: ExportedRows,
  format: ExportEncoding,
  yieldSlice: () => Promise<void>,
): Promise<Uint8Array> {
  const sets = format === 'text' ? [] : rows.labelSets.map(entryLabels);
  const bytes = rows.begin(fileFormat(format === 'columns' ? 'text' : format, dayStartNs, sets));
  const columns =
    format === 'columns' ? encodeColumns({ dayStartNs, sets, ...rows.columns() }) : Buffer.alloc(0);
  // Has separate memory, which can be moved to another thread.
  const output = Buffer.allocUnsafeSlow(columns.length + bytes);
  columns.copy(output);
  for (let at = columns.length; at < output.length; await yieldSlice()) at += rows.next(output, at);
  return new Uint8Array(output.buffer);
}

function entryLabels({ stream, structuredMetadata, parsed }: LabelCategories): EntryLabels {
  return { labels: labelsToObject(stream), metadata: labelsToObject([...structuredMetadata, ...parsed]) };
}
