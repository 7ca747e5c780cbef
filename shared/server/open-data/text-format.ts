/** Entries as bytes of a file: lines alone, JSON lines or CSV. The store and `logboom export` write the same bytes. */
import type { FileFormat } from '../../base/kernels/file-rows.ts';
import { formatLabels, labelsOf } from '../../base/model/labels.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { EntryLabels } from './entry-columns.ts';

export type TextFormat = 'text' | 'jsonl' | 'csv';

const CSV_QUOTED = /[",\r\n]/;

/** @param sets by the numbers of the rows; not used for lines alone */
export function fileFormat(format: TextFormat, dayStartNs: bigint, sets: readonly EntryLabels[]): FileFormat {
  if (format === 'text') return { kind: 'text', head: '', labels: [], tail: '' };
  const day = new Date(Number(dayStartNs / NS_PER_MS)).toISOString().slice(0, 'yyyy-mm-ddT'.length);
  return format === 'jsonl'
    ? { kind: 'json', head: `{"timestamp":"${day}`, labels: sets.map(jsonLabels), tail: '"}\n' }
    : { kind: 'csv', head: day, labels: sets.map(csvLabels), tail: '\n' };
}

function jsonLabels({ labels, metadata }: EntryLabels): string {
  return `Z","labels":${JSON.stringify(labels)},"metadata":${JSON.stringify(metadata)},"line":"`.toWellFormed();
}

function csvLabels({ labels, metadata }: EntryLabels): string {
  return `Z,${csvField(labels)},${csvField(metadata)},`.toWellFormed();
}

function csvField(labels: Readonly<Record<string, string>>): string {
  const text = formatLabels(labelsOf(labels));
  return CSV_QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
