/**
 * Exports a whole result part by part, oldest first. The store formats text and JSON lines, so that the
 * browser only keeps bytes. CSV has the columns of the list, which the browser fills.
 *
 *     for await (const { body, entries } of exportedParts({ ask, range })) parts.push(body);
 */
import type { Labels } from '../api/types.ts';
import { cellOf, type ListColumn } from './columns.ts';
import { levelOf } from './level.ts';
import type { LogRow } from './rows.ts';

const EXPORT_FORMATS = ['text', 'jsonl', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Lines after which an export stops. A browser keeps the file until it is saved, large ones on disk. */
export const MAX_EXPORT_LINES = 5_000_000;

/** Entry as the store exports it. */
interface ExportedEntry {
  /** RFC 3339 with nanoseconds. */
  readonly timestamp: string;
  readonly labels: Labels;
  /** Structured metadata, and fields that the query adds. */
  readonly metadata: Labels;
  readonly line: string;
}

export interface ExportedPart<Body> {
  readonly body: Body;
  /** Number of entries. */
  readonly entries: number;
  /** Start of the next part, Unix nanoseconds; undefined after the last part. */
  readonly next: string | undefined;
}

interface ExportOptions<Body> {
  /** Requests the part that begins at `startNs`. */
  readonly ask: (range: { readonly startNs: string; readonly endNs: string }) => Promise<ExportedPart<Body>>;
  readonly range: { readonly startNs: string; readonly endNs: string };
  readonly maxLines?: number;
}

/** Yields all parts, the last one after the maximum is reached. Throws what `ask` throws. */
export async function* exportedParts<Body>(options: ExportOptions<Body>): AsyncGenerator<ExportedPart<Body>> {
  const { ask, range, maxLines = MAX_EXPORT_LINES } = options;
  let startNs: string | undefined = range.startNs;
  for (let lines = 0; startNs !== undefined && lines < maxLines; ) {
    const part: ExportedPart<Body> = await ask({ startNs, endNs: range.endNs });
    lines += part.entries;
    startNs = part.next;
    yield part;
  }
}

/** Loaded row, as the store exports it. */
export function entryOf({ ns, stream, metadata, parsed, line }: LogRow): ExportedEntry {
  return { timestamp: isoTime(ns), labels: stream, metadata: { ...metadata, ...parsed }, line };
}

/** First line of a file; empty if the format has none. */
export function exportHeader(format: ExportFormat, columns: readonly ListColumn[]): string {
  if (format !== 'csv') return '';
  return csvLine(['timestamp', 'level', ...columns.map(({ name }) => name), 'line', 'labels', 'metadata']);
}

export function exportText(
  entries: readonly ExportedEntry[],
  format: ExportFormat,
  columns: readonly ListColumn[],
): string {
  return entries.map(entry => lineOf(entry, format, columns)).join('');
}

function lineOf(entry: ExportedEntry, format: ExportFormat, columns: readonly ListColumn[]): string {
  const { timestamp, labels, metadata, line } = entry;
  switch (format) {
    case 'text':
      return `${line}\n`;
    case 'jsonl':
      return `${JSON.stringify({ timestamp, labels, metadata, line })}\n`;
    case 'csv': {
      const row = { stream: labels, parsed: {}, metadata, line };
      const level = levelOf(
        metadata.detected_level ?? metadata.level ?? labels.detected_level ?? labels.level,
      );
      return csvLine([
        timestamp,
        level,
        ...columns.map(({ name }) => cellOf(row, name)),
        line,
        JSON.stringify(labels),
        JSON.stringify(metadata),
      ]);
    }
  }
}

/** CSV of JSON lines from the store. */
export function csvOf(jsonLines: string, columns: readonly ListColumn[]): string {
  const entries = jsonLines
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as ExportedEntry);
  return exportText(entries, 'csv', columns);
}

/** CSV line, quoted as in RFC 4180. It ends in a line feed, as in all CSV of the store, because tools such as `cut` keep a return. */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(',')}\n`;
}

/** RFC 3339 time with nanoseconds. */
function isoTime(ns: string): string {
  const ms = Number(ns.slice(0, -6));
  return `${new Date(ms).toISOString().slice(0, -1)}${ns.slice(-6).padStart(6, '0')}Z`;
}
