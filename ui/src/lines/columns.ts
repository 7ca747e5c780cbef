/**
 * Columns between the time and the line: labels, structured metadata, fields of the query, or fields in the
 * line.
 */
import { parseAnsi } from './ansi.ts';
import { fieldsOf } from './fields.ts';
import type { LogRow } from './rows.ts';

export interface ListColumn {
  readonly name: string;
  readonly widthPx: number;
}

export const DEFAULT_WIDTH_PX = 110;
export const MIN_WIDTH_PX = 40;
export const MAX_WIDTH_PX = 800;
/** Maximum number of columns; more leave no space for the line. */
export const MAX_LIST_COLUMNS = 12;
/** Number of rows whose names are collected. */
const LOOKED_AT = 200;
const SERVICE = 'service_name';

/** Columns as a URL parameter: `service_name.90,region`. */
export function formatColumns(columns: readonly ListColumn[]): string {
  if (columns.length === 0) return '-';
  return columns
    .map(({ name, widthPx }) => (widthPx === DEFAULT_WIDTH_PX ? name : `${name}.${widthPx}`))
    .join(',');
}

/** Columns of a URL parameter; undefined if none were chosen. */
export function parseColumns(text: string): readonly ListColumn[] | undefined {
  if (text === '') return undefined;
  const columns: ListColumn[] = [];
  for (const part of text.split(',')) {
    const [, name, width] = /^([A-Za-z_]\w*)(?:\.(\d{1,4}))?$/.exec(part) ?? [];
    if (name === undefined || columns.some(known => known.name === name)) continue;
    columns.push({ name, widthPx: width === undefined ? DEFAULT_WIDTH_PX : boundWidth(Number(width)) });
  }
  return columns.slice(0, MAX_LIST_COLUMNS);
}

export function boundWidth(widthPx: number): number {
  return Math.round(Math.min(MAX_WIDTH_PX, Math.max(MIN_WIDTH_PX, widthPx)));
}

/** Appends a column, if it is new and there is space. */
export function withColumn(columns: readonly ListColumn[], name: string): readonly ListColumn[] {
  if (columns.length >= MAX_LIST_COLUMNS || columns.some(column => column.name === name)) return columns;
  return [...columns, { name, widthPx: DEFAULT_WIDTH_PX }];
}

export function withoutColumn(columns: readonly ListColumn[], name: string): readonly ListColumn[] {
  return columns.filter(column => column.name !== name);
}

export function movedColumn(columns: readonly ListColumn[], from: number, to: number): readonly ListColumn[] {
  const moved = [...columns];
  moved.splice(to, 0, ...moved.splice(from, 1));
  return moved;
}

/** Chosen columns as text: those of the URL take precedence. */
interface ChosenColumns {
  readonly address: string;
  /** Columns that this browser remembers for all queries. */
  readonly remembered: string;
}

/**
 * Columns of a list. Omits remembered ones without values in the rows, because they were chosen for another
 * query.
 */
export function shownColumns(rows: readonly LogRow[], chosen: ChosenColumns): readonly ListColumn[] {
  const inAddress = parseColumns(chosen.address);
  if (inAddress !== undefined) return inAddress;
  const remembered = parseColumns(chosen.remembered);
  if (remembered?.length === 0) return remembered;
  const looked = rows.slice(0, LOOKED_AT);
  const filled = remembered?.filter(({ name }) => looked.some(row => cellOf(row, name) !== '')) ?? [];
  return filled.length > 0 ? filled : columnsFor(rows);
}

/** Default columns: the service if there are several streams, else the first label in which they differ. */
export function columnsFor(rows: readonly LogRow[]): readonly ListColumn[] {
  const streams = [...new Set(rows.map(({ stream }) => stream))];
  const differs = (name: string) => streams.some(stream => stream[name] !== streams[0][name]);
  if (streams.length < 2) return [];
  const names = [...new Set(streams.flatMap(stream => Object.keys(stream)))].sort();
  const name = [SERVICE, ...names].find(differs);
  return name === undefined ? [] : [{ name, widthPx: DEFAULT_WIDTH_PX }];
}

/** Value of a column; empty if the row has none. */
export function cellOf(row: Pick<LogRow, 'stream' | 'parsed' | 'metadata' | 'line'>, name: string): string {
  return row.stream[name] ?? row.parsed[name] ?? row.metadata[name] ?? inLine(row.line, name) ?? '';
}

/** Names that have values in the rows, most rows first. */
export function columnNames(rows: readonly LogRow[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { stream, parsed, metadata, line } of rows.slice(0, LOOKED_AT)) {
    const fields = fieldsOf(parseAnsi(line).text)?.fields.map(([name]) => name) ?? [];
    const names = [stream, parsed, metadata].flatMap(labels => Object.keys(labels));
    for (const name of new Set([...names, ...fields])) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .filter(([name]) => parseColumns(name)?.length === 1)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name]) => name);
}

/**
 * Color of a label's value: one of HUES, in two shades. Fields such as IDs have no color, because they have
 * too many values.
 */
interface ValueColor {
  /** Hue, degrees. */
  readonly hue: number;
  readonly isDeep: boolean;
}

/** Number of hues; closer ones look alike. */
const HUES = 16;

/**
 * Color that depends only on the value, so that a service always has the same color. Two values can share
 * one.
 */
export function colorOfValue(value: string): ValueColor {
  const slot = hashOf(value) % (2 * HUES);
  return { hue: ((slot % HUES) * 360) / HUES, isDeep: slot >= HUES };
}

/**
 * Start value of the hash. It decides which names share a color; with this one, the most common service names
 * do not.
 */
const HASH_START = 2890;

/**
 * FNV-1a hash. Its high bits are mixed into the low ones, so that names that differ in one letter get
 * different colors.
 */
function hashOf(value: string): number {
  let hash = HASH_START;
  for (let i = 0; i < value.length; i++) hash = Math.imul(hash ^ value.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function inLine(line: string, name: string): string | undefined {
  if (!line.includes(name.split('_')[0])) return undefined;
  return fieldsOf(parseAnsi(line).text)?.fields.find(([field]) => field === name)?.[1];
}
