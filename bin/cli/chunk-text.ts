/** Formats the report of a chunk as text, and the rows of a page as lines. */

import { type Labels, labelsToObject } from '../../shared/base/model/labels.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { OTHER_LEVELS } from '../../shared/storage/chunk/format.ts';
import { labelText } from './answer-text.ts';
import type { ChunkReport, ColumnReport, LevelReport, PageReport, SectionReport } from './chunk-report.ts';
import { nanosecondText } from './time-text.ts';

/**
 * Maximum number of runs listed per page. A page of a merged chunk can have thousands; --json lists all of
 * them.
 */
const MAX_RUNS_SHOWN = 50;

export function chunkText(report: ChunkReport): string {
  const { rows, lineBytes, metadataBytes, objectBytes, streams, pages, levels, sections, inputs } = report;
  const head = [
    ['chunk', report.id],
    ['version', `${report.version}`],
    ['tenant', report.tenant],
    ['day', report.day],
    ['level', `${report.level}`],
    ['created', report.created],
    ['inputs', inputs.length === 0 ? 'none' : inputs.join(' ')],
    ['first', report.first],
    ['last', report.last],
    ['entries', `${rows}`],
    [
      'bytes',
      `${lineBytes} of lines, ${metadataBytes} of metadata, ${objectBytes} stored (${ratio(lineBytes + metadataBytes, objectBytes)})`,
    ],
  ];
  const parts = [
    table(head.map(([name, value]) => [name, value])),
    `\nstreams (${streams.length})\n${table(streams.map((stream, i) => [`  ${i}`, stream]))}`,
    ...pages.map((page, i) => pageText(page, i)),
    `\nlevels\n${table([['  level', '>entries', '>line bytes', '>metadata bytes'], ...levels.map(levelRow)])}`,
  ];
  if (sections.length > 0) {
    parts.push(`\nsections\n${table([['  section', '>stored', 'checksum'], ...sections.map(sectionRow)])}`);
  }
  return parts.join('');
}

function pageText(page: PageReport, number: number): string {
  const { offset, storedBytes, rows, lineBytes, timeUnitNs, runs, columns, broken } = page;
  const shown = runs.slice(0, MAX_RUNS_SHOWN);
  const left = runs.length - shown.length;
  return [
    `\npage ${number}: ${rows} rows, ${lineBytes} bytes of lines, ${storedBytes} stored at offset ${offset}, `,
    `timestamps in units of ${timeUnitNs ?? '?'} ns\n`,
    broken === undefined ? '' : `  CORRUPT: ${broken}\n`,
    table([
      ['  run of stream', '>first row', '>rows', '>line bytes', 'first', 'last'],
      ...shown.map(run => [
        `  ${run.stream}`,
        `>${run.firstRow}`,
        `>${run.rows}`,
        `>${run.lineBytes}`,
        run.first,
        run.last,
      ]),
    ]),
    left > 0 ? `  and ${left} more runs\n` : '',
    table([
      ['  column', 'name', '>stored', '>raw', '>ratio', 'codec', 'values', 'checksum'],
      ...columns.map(columnRow),
    ]),
  ].join('');
}

function columnRow(column: ColumnReport): string[] {
  const { kind, name, codec, storedBytes, rawBytes, dictionaryValues, constant, broken } = column;
  const values = constant
    ? 'constant'
    : dictionaryValues === undefined
      ? '-'
      : `${dictionaryValues} in footer`;
  return [
    `  ${kind}`,
    name === '' ? '-' : name,
    `>${storedBytes}`,
    `>${rawBytes}`,
    `>${ratio(rawBytes, storedBytes)}`,
    codec,
    values,
    broken === undefined ? 'ok' : 'CORRUPT',
  ];
}

function levelRow({ level, entries, lineBytes, metadataBytes }: LevelReport): string[] {
  const name = level === '' ? '(none)' : level === OTHER_LEVELS ? '(further levels)' : level;
  return [`  ${name}`, `>${entries}`, `>${lineBytes}`, `>${metadataBytes}`];
}

function sectionRow({ kind, storedBytes, broken }: SectionReport): string[] {
  return [`  kind ${kind}`, `>${storedBytes}`, broken === undefined ? 'ok' : 'CORRUPT'];
}

function ratio(raw: number, stored: number): string {
  return stored === 0 ? '-' : `${(raw / stored).toFixed(1)}x`;
}

/** Aligns cells in columns as wide as their widest cell. A cell that begins with `>` is right-aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const text = (cell: string) => (cell.startsWith('>') ? cell.slice(1) : cell);
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, text(cell).length);
    });
  }
  return rows
    .map(row => {
      const cells = row.map((cell, i) =>
        cell.startsWith('>') ? text(cell).padStart(widths[i]) : cell.padEnd(widths[i]),
      );
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}

/** Rows of a page, one by one, as text or as JSON, each with a line break. */
export function* rowTexts(page: PageRows, asJson: boolean): Generator<string> {
  for (const { stream, firstRow, rows } of page.runs) {
    for (let row = firstRow; row < firstRow + rows; row++) {
      const timestamp = nanosecondText(page.baseNs + BigInt(page.times[row]));
      const line = page.lines.toString('utf8', page.lineOffsets[row], page.lineOffsets[row + 1]);
      const metadata = labelsToObject(metadataOfRow(page, row));
      const labels = labelsToObject(stream.labels);
      yield asJson
        ? `${JSON.stringify({ timestamp, labels, metadata, line })}\n`
        : `${timestamp} ${stream.text} ${labelText(metadata)} ${line}\n`;
    }
  }
}

function metadataOfRow({ metadata }: PageRows, row: number): Labels {
  return metadata
    .filter(column => column.ids[row] > 0)
    .map(column => ({ name: column.name, value: column.valueAt(column.ids[row] - 1) }));
}
