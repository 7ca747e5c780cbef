/**
 * Exports a whole result page by page, so that only one page of rows is held at a time.
 *
 *     for await (const rows of allRows({ ask, range, newestFirst: true })) parts.push(exportText(rows, format, names));
 */
import { parseAnsi } from './ansi.ts';
import { type Column, cellOf } from './columns.ts';
import { nextPage, type PageRequest } from './next-page.ts';
import { type LogRow, lastOfOneTime, withPage } from './rows.ts';

const EXPORT_FORMATS = ['text', 'jsonl', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Maximum number of lines. A browser keeps the file until it is saved, large ones on disk. */
export const MAX_EXPORT_LINES = 5_000_000;
/**
 * Entries per request: `max_entries_limit_per_query` is 5,000 by default, and entries of the last timestamp
 * are repeated.
 */
const PAGE_LIMITS: [number, number] = [4000, 5000];

interface AllRowsOptions {
  /** Requests one page, in the order of the list. */
  readonly ask: (page: PageRequest) => Promise<readonly LogRow[]>;
  readonly range: Pick<PageRequest, 'startNs' | 'endNs'>;
  readonly newestFirst: boolean;
  readonly maxLines?: number;
}

/**
 * Yields all pages. Throws if more entries share one timestamp than a request returns, and whatever `ask`
 * throws.
 */
export async function* allRows(options: AllRowsOptions): AsyncGenerator<readonly LogRow[]> {
  const { ask, range, newestFirst, maxLines = MAX_EXPORT_LINES } = options;
  /** Rows of the last timestamp, which the next page repeats. */
  let last: readonly LogRow[] = [];
  let lines = 0;
  while (lines < maxLines) {
    const asked = nextPage(last, range, newestFirst, PAGE_LIMITS);
    if (asked === undefined) throw new Error(STUCK);
    const page = await ask(asked);
    const together = withPage(last, page);
    const added = together.slice(last.length, last.length + maxLines - lines);
    lines += added.length;
    if (added.length > 0) yield added;
    if (page.length < asked.limit) return;
    if (added.length === 0) throw new Error(STUCK);
    last = together.slice(-lastOfOneTime(together));
  }
}

const STUCK = 'More lines share one timestamp than a request returns. Filter the query to export the rest.';

/** First line of a file; empty if the format has none. */
export function exportHeader(format: ExportFormat, columns: readonly Column[]): string {
  if (format !== 'csv') return '';
  return csvLine(['timestamp', 'level', ...columns.map(({ name }) => name), 'line', 'labels', 'metadata']);
}

export function exportText(
  rows: readonly LogRow[],
  format: ExportFormat,
  columns: readonly Column[],
): string {
  return rows.map(row => lineOf(row, format, columns)).join('');
}

function lineOf(row: LogRow, format: ExportFormat, columns: readonly Column[]): string {
  const { ns, line, level, stream, metadata, parsed } = row;
  switch (format) {
    case 'text':
      return `${parseAnsi(line).text}\n`;
    case 'jsonl':
      return `${JSON.stringify({ timestamp: ns, line, labels: stream, metadata, parsed })}\n`;
    case 'csv':
      return csvLine([
        isoTime(ns),
        level,
        ...columns.map(({ name }) => cellOf(row, name)),
        line,
        JSON.stringify(stream),
        JSON.stringify(metadata),
      ]);
  }
}

/** CSV line (RFC 4180). */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(',')}\r\n`;
}

/** ISO time with nanoseconds. */
function isoTime(ns: string): string {
  const ms = Number(ns.slice(0, -6));
  return `${new Date(ms).toISOString().slice(0, -1)}${ns.slice(-6).padStart(6, '0')}Z`;
}
