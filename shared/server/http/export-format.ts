/**
 * Entries of an export as bytes of a file: text (lines alone), JSON lines or CSV. Written by the store, byte by byte from the lines of
 * its pages, because a client that parses JSON to write JSON takes four times as long as both together this way.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import { formatLabels, type Labels, labelsToObject } from '../../base/model/labels.ts';
import { NS_OF_SECOND } from '../../base/model/time-units.ts';
import type { LabelCategories } from '../../execution/pipeline/label-map.ts';
import type { ExportedRows } from '../../read/query/export-query.ts';
import { type EscapeTable, OutputBytes } from './output-bytes.ts';

export type ExportFormat = 'text' | 'jsonl' | 'csv';

export const EXPORT_FORMATS: readonly ExportFormat[] = ['text', 'jsonl', 'csv'];

export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  text: 'text/plain; charset=utf-8',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

/** How one format writes an entry: what is before its time, between time and line, and the line. */
interface EntryFormat {
  readonly beforeTime: string;
  between(labels: LabelCategories): string;
  line(output: OutputBytes, bytes: Buffer, start: number, end: number): void;
  readonly end: string;
}

const JSON_ESCAPES: EscapeTable = Array.from({ length: 256 }, (_, byte) => {
  const plain = byte >= 0x80 ? undefined : JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
  return plain === undefined || plain.length === 1 ? undefined : Buffer.from(plain);
});
const CSV_ESCAPES: EscapeTable = Array.from({ length: 256 }, (_, byte) =>
  byte === 0x22 ? Buffer.from('""') : undefined,
);
const CSV_QUOTED = /[",\r\n]/;

const JSON_LINES: EntryFormat = {
  beforeTime: '{"timestamp":"',
  between: ({ stream, structuredMetadata, parsed }) =>
    `","labels":${jsonOf(stream)},"metadata":${jsonOf([...structuredMetadata, ...parsed])},"line":"`,
  line: (output, bytes, start, end) => output.escaped(bytes, start, end, JSON_ESCAPES),
  end: '"}\n',
};

const CSV: EntryFormat = {
  beforeTime: '',
  between: ({ stream, structuredMetadata, parsed }) =>
    `,${csvField(formatLabels(stream))},${csvField(formatLabels(sorted([...structuredMetadata, ...parsed])))},`,
  line: (output, bytes, start, end) => {
    if (!isCsvQuoted(bytes, start, end)) return output.bytes(bytes, start, end);
    output.byte(0x22);
    output.escaped(bytes, start, end, CSV_ESCAPES);
    output.byte(0x22);
  },
  end: '\n',
};

/** Rows that are written before others have their turn: 2 to 5 ms. */
const ROWS_AT_ONCE = 4096;
const NEWLINE = 0x0a;

/** @param rest called after some thousand rows; others have the thread meanwhile */
export async function encodeExport(
  { rows, dayStartNs }: ExportedRows,
  format: ExportFormat,
  rest: () => Promise<void>,
): Promise<Uint8Array> {
  const order = rows.order();
  const { starts, ends, times, lines, count } = rows;
  const output = new OutputBytes(rows.lineBytes + count);
  if (format === 'text') {
    for (let i = 0; i < count; i++) {
      output.bytes(lines, starts[order[i]], ends[order[i]]);
      output.byte(NEWLINE);
      if (i % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await rest();
    }
    return output.finish();
  }
  const { beforeTime, between, line, end } = format === 'jsonl' ? JSON_LINES : CSV;
  const before = Buffer.from(beforeTime);
  const behind = Buffer.from(end);
  const betweens: (Buffer | undefined)[] = [];
  const isPlain = isAscii(lines.subarray(0, rows.lineBytes));
  let second = Number.NaN;
  let secondText = Buffer.alloc(0);
  for (let i = 0; i < count; i++) {
    const row = order[i];
    output.bytes(before, 0, before.length);
    const time = times[row];
    const seconds = Math.floor(time / NS_OF_SECOND);
    if (seconds !== second) {
      second = seconds;
      const ms = Number(dayStartNs / 1_000_000n) + seconds * 1000;
      secondText = Buffer.from(new Date(ms).toISOString().slice(0, -'000Z'.length));
    }
    output.bytes(secondText, 0, secondText.length);
    output.nineDigits(time - seconds * NS_OF_SECOND);
    output.byte(0x5a);
    const id = rows.labels[row];
    const labels = (betweens[id] ??= Buffer.from(between(rows.labelSets[id]).toWellFormed()));
    output.bytes(labels, 0, labels.length);
    if (isPlain || isUtf8(lines.subarray(starts[row], ends[row])))
      line(output, lines, starts[row], ends[row]);
    else {
      const text = Buffer.from(lines.toString('utf8', starts[row], ends[row]));
      line(output, text, 0, text.length);
    }
    output.bytes(behind, 0, behind.length);
    if (i % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await rest();
  }
  return output.finish();
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

function isCsvQuoted(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte === 0x22 || byte === 0x2c || byte === 0x0a || byte === 0x0d) return true;
  }
  return false;
}
