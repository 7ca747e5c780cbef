/**
 * Formats entries of an export as bytes of a file: text (only lines), JSON lines or CSV, or as columns for programs. The store formats
 * them directly from the lines of its pages. A client that parses and formats JSON itself needs four times
 * the CPU time of both sides.
 */
import type { FileFormat } from '../../base/kernels/file-rows.ts';
import { formatLabels, type Labels, labelsToObject } from '../../base/model/labels.ts';
import type { LabelCategories } from '../../execution/pipeline/label-map.ts';
import type { ExportedRows } from '../../read/query/export-query.ts';
import { encodeColumns } from '../open-data/entry-columns.ts';

export type ExportFormat = 'text' | 'jsonl' | 'csv' | 'columns';

export const EXPORT_FORMATS: readonly ExportFormat[] = ['text', 'jsonl', 'csv', 'columns'];

export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  text: 'text/plain; charset=utf-8',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  columns: 'application/vnd.logboom.columns',
};

const CSV_QUOTED = /[",\r\n]/;

/** @param yieldSlice called after each MiB, so that other requests can run */
export async function encodeExport(
  { rows, dayStartNs }: ExportedRows,
  format: ExportFormat,
  yieldSlice: () => Promise<void>,
): Promise<Uint8Array> {
  const day = new Date(Number(dayStartNs / 1_000_000n)).toISOString().slice(0, 'yyyy-mm-ddT'.length);
  const bytes = rows.begin(fileFormatOf(format, day, rows.labelSets));
  const columns =
    format === 'columns'
      ? encodeColumns({ dayStartNs, sets: rows.labelSets.map(columnLabels), ...rows.columns() })
      : Buffer.alloc(0);
  // Has separate memory, which can be moved to another thread.
  const output = Buffer.allocUnsafeSlow(columns.length + bytes);
  columns.copy(output);
  for (let at = columns.length; at < output.length; await yieldSlice()) at += rows.next(output, at);
  return new Uint8Array(output.buffer);
}

function fileFormatOf(format: ExportFormat, day: string, sets: readonly LabelCategories[]): FileFormat {
  switch (format) {
    case 'text':
    case 'columns':
      return { kind: 'text', head: '', labels: [], tail: '' };
    case 'jsonl':
      return { kind: 'json', head: `{"timestamp":"${day}`, labels: sets.map(jsonLabels), tail: '"}\n' };
    case 'csv':
      return { kind: 'csv', head: day, labels: sets.map(csvLabels), tail: '\n' };
  }
}

function jsonLabels({ stream, structuredMetadata, parsed }: LabelCategories): string {
  const metadata = jsonOf([...structuredMetadata, ...parsed]);
  return `Z","labels":${jsonOf(stream)},"metadata":${metadata},"line":"`.toWellFormed();
}

function columnLabels({ stream, structuredMetadata, parsed }: LabelCategories) {
  return { labels: labelsToObject(stream), metadata: labelsToObject([...structuredMetadata, ...parsed]) };
}

function csvLabels({ stream, structuredMetadata, parsed }: LabelCategories): string {
  const metadata = formatLabels(sorted([...structuredMetadata, ...parsed]));
  return `Z,${csvField(formatLabels(stream))},${csvField(metadata)},`.toWellFormed();
}

function jsonOf(labels: Labels): string {
  return JSON.stringify(labelsToObject(labels));
}

function sorted(labels: Labels): Labels {
  return [...labels].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function csvField(text: string): string {
  return CSV_QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
