/**
 * Formats entries of an export as bytes of a file: text (only lines), JSON lines or CSV, or as columns for programs. The store formats
 * them directly from the lines of its pages. A client that parses and formats JSON itself needs four times
 * the CPU time of both sides.
 */
import { labelsToObject } from '../../base/model/labels.ts';
import { releaseBody, type SharedBodies } from '../../base/model/shared-bodies.ts';
import type { LabelCategories } from '../../execution/pipeline/label-map.ts';
import type { ExportedRows } from '../../read/query/export-query.ts';
import { columnBytes, columnMemory, columnsHead, type EntryLabels } from '../open-data/entry-columns.ts';
import { fileFormat, type TextFormat } from '../open-data/text-format.ts';
import type { HttpResponse } from './message.ts';

export type ExportEncoding = TextFormat | 'columns';

export const EXPORT_FORMATS: readonly ExportEncoding[] = ['text', 'jsonl', 'csv', 'columns'];

export const EXPORT_TYPES: Readonly<Record<ExportEncoding, string>> = {
  text: 'text/plain; charset=utf-8',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  columns: 'application/vnd.logboom.columns',
};

type EncodedExport = Required<Pick<HttpResponse, 'body' | 'isBodyShared'>> & { readonly body: Uint8Array };

/** @param yieldSlice called after each MiB, so that other requests can run */
export async function encodeExport(
  { rows, dayStartNs }: ExportedRows,
  format: ExportEncoding,
  yieldSlice: () => Promise<void>,
  bodies?: SharedBodies,
): Promise<EncodedExport> {
  const sets = format === 'text' ? [] : rows.labelSets.map(entryLabels);
  const bytes = rows.begin(fileFormat(format === 'columns' ? 'text' : format, dayStartNs, sets));
  const isColumns = format === 'columns';
  const { count } = rows;
  const head = isColumns ? columnsHead(count, dayStartNs, sets) : Buffer.alloc(0);
  const start = head.length + (isColumns ? columnBytes(count) : 0);
  const shared = bodies?.take(start + bytes);
  // Other memory is separate, so that it can be moved to another thread.
  const output = shared ?? Buffer.allocUnsafeSlow(start + bytes);
  try {
    head.copy(output);
    if (isColumns) rows.writeColumns(columnMemory(output, head.length, count));
    for (let at = start; at < output.length; await yieldSlice()) at += rows.next(output, at);
  } catch (error) {
    if (shared !== undefined) releaseBody(shared);
    throw error;
  }
  return { body: output, isBodyShared: shared !== undefined };
}

function entryLabels({ stream, structuredMetadata, parsed }: LabelCategories): EntryLabels {
  return { labels: labelsToObject(stream), metadata: labelsToObject([...structuredMetadata, ...parsed]) };
}
