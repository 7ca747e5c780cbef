/** Formats rows of named columns: aligned, CSV (RFC 4180), JSON lines, or only the first column. */
import { visible } from '../../shared/base/model/visible-text.ts';
import { cellWidth, cutCells, padCells } from './cell-text.ts';

/** Value of a cell; null means that there is none. */
export type Cell = string | number | null;

export interface TextColumn {
  readonly name: string;
  readonly align?: 'left' | 'right';
  /** Format of a number in an aligned table; CSV and JSON have it unchanged. */
  readonly show?: (value: Cell) => string;
}

export interface TextTable {
  readonly columns: readonly TextColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

export const TABLE_OUTPUTS = ['default', 'raw', 'jsonl', 'table', 'csv'] as const;
export type TableOutput = (typeof TABLE_OUTPUTS)[number];

const GAP = '  ';

interface TableOptions {
  /** Maximum width of a line; default: unlimited. */
  readonly maxCells?: number;
  /** Minimum widths by column, so that successive tables line up. */
  readonly widths?: number[];
  readonly heading?: boolean;
  /** Escapes values in formats that are not aligned, if they may contain anything; default: unchanged. */
  readonly shown?: (value: string) => string;
}

const AS_IT_IS = (value: string) => value;

/** Aligned rows under a heading. Grows `widths` to the widths used. */
export function alignedText({ columns, rows }: TextTable, options: TableOptions = {}): string {
  const { maxCells = Infinity, widths = [], heading = true } = options;
  const shown = rows.map(row => row.map((cell, i) => shownCell(cell, columns[i])));
  const lines = heading ? [columns.map(({ name }) => visible(name)), ...shown] : shown;
  for (const line of lines) {
    line.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cellWidth(cell));
    });
  }
  return lines.map(line => alignedLine(line, columns, widths, maxCells)).join('');
}

function shownCell(cell: Cell, { show }: TextColumn): string {
  return visible(show === undefined ? textOf(cell) : show(cell));
}

function alignedLine(
  cells: readonly string[],
  columns: readonly TextColumn[],
  widths: readonly number[],
  maxCells: number,
): string {
  const last = cells.length - 1;
  const text = cells
    .map((cell, i) => {
      const { align = 'left' } = columns[i];
      return i === last && align === 'left' ? cell : padCells(cell, widths[i], align);
    })
    .join(GAP)
    .trimEnd();
  return `${cutCells(text, maxCells)}\n`;
}

export function csvText(
  { columns, rows }: TextTable,
  { heading = true, shown = AS_IT_IS }: TableOptions = {},
): string {
  const lines = heading ? [columns.map(({ name }) => name), ...rows] : rows;
  return lines.map(line => `${line.map(cell => csvField(shown(textOf(cell)))).join(',')}\n`).join('');
}

function textOf(cell: Cell): string {
  return cell === null ? '' : String(cell);
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** JSON object for each row, without missing values. */
function jsonlText({ columns, rows }: TextTable): string {
  return rows
    .map(row => {
      const pairs = row.map((cell, i): [string, Cell] => [columns[i].name, cell]);
      return `${JSON.stringify(Object.fromEntries(pairs.filter(([, cell]) => cell !== null)))}\n`;
    })
    .join('');
}

/** Table in an output format. `default` is aligned, except that a single column is a list of its values. */
export function tableText(table: TextTable, output: TableOutput, options: TableOptions = {}): string {
  switch (output) {
    case 'csv':
      return csvText(table, options);
    case 'jsonl':
      return jsonlText(table);
    case 'raw':
      return listText(table, options);
    case 'table':
      return alignedText(table, options);
    case 'default':
      return table.columns.length === 1 ? listText(table, options) : alignedText(table, options);
  }
}

function listText({ rows }: TextTable, { shown = AS_IT_IS }: TableOptions): string {
  return rows.map(([first]) => `${shown(textOf(first))}\n`).join('');
}
