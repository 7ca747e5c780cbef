/** Frequent fields of JSON and logfmt lines as columns, with the common type of their values. */
import { parseObject } from '../../base/text/json-object.ts';
import { parseLogfmt } from '../../base/text/logfmt-pairs.ts';

type Fields = Readonly<Record<string, unknown>>;

type FieldType = 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'STRING';

export interface FieldColumn {
  readonly name: string;
  readonly type: FieldType;
}

/** Maximum number of columns, because larger tables are hard to read. */
const MAX_COLUMNS = 30;
/** Maximum number of counted names. Lines of a hostile client can have new names each. */
const MAX_NAMES = 10_000;
/** Minimum share of rows with the field. Rarer fields are still in the line. */
const MIN_SHARE = 0.1;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const MAX_INT64 = 2n ** 63n - 1n;
const NUMBER = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?$/;
/** Numbers with more digits can exceed 64 bits. */
const MAX_CERTAIN_DIGITS = 18;

/** Returns undefined for a line that is neither. */
export function fieldsOfLine(line: string): Fields | undefined {
  return parseObject(line) ?? parseLogfmt(line);
}

/** Columns for these rows, sorted by name. */
export function frequentFields(rows: readonly (Fields | undefined)[]): readonly FieldColumn[] {
  const found = new Map<string, { rows: number; type: FieldType | undefined }>();
  for (const fields of rows) {
    for (const name in fields) {
      if (!Object.hasOwn(fields, name)) continue;
      let known = found.get(name);
      if (known === undefined) {
        if (found.size >= MAX_NAMES) continue;
        known = { rows: 0, type: undefined };
        found.set(name, known);
      }
      known.rows++;
      // Every value fits into a text column.
      if (known.type === 'STRING') continue;
      const type = typeOf(fields[name]);
      if (type !== undefined) known.type = commonType(known.type, type);
    }
  }
  return [...found]
    .filter(([, { rows: count, type }]) => type !== undefined && count >= rows.length * MIN_SHARE)
    .sort(([a, x], [b, y]) => y.rows - x.rows || (a < b ? -1 : 1))
    .filter(([name], i, all) => all.findIndex(([other]) => columnName(other) === columnName(name)) === i)
    .slice(0, MAX_COLUMNS)
    .map(([name, { type }]) => ({ name, type: type! }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Column name with a prefix, which SQL accepts without quotes. It is in lower case, because SQL ignores case. */
export function columnName(field: string): string {
  return `field_${field.replaceAll(/[^a-zA-Z0-9_]/g, '_').toLowerCase()}`;
}

export type ColumnValue = string | number | bigint | boolean | null;

/** Values of each column, null for rows without the field. Iterates over rows, because a row has few of the fields. */
export function columnValues(
  rows: readonly (Fields | undefined)[],
  columns: readonly FieldColumn[],
): readonly (readonly ColumnValue[])[] {
  const values = columns.map(() => new Array<ColumnValue>(rows.length).fill(null));
  const places = new Map(columns.map(({ name }, i) => [name, i]));
  for (const [row, fields] of rows.entries()) {
    for (const name in fields) {
      const place = places.get(name);
      if (place === undefined || !Object.hasOwn(fields, name)) continue;
      values[place][row] = columnValue(fields[name], columns[place].type);
    }
  }
  return values;
}

function columnValue(value: unknown, type: FieldType): ColumnValue {
  if (value === undefined || value === null || (value === '' && type !== 'STRING')) return null;
  if (type === 'INT64') return BigInt(value as string | number);
  if (type === 'DOUBLE') return Number(value);
  if (type === 'BOOLEAN') return value === true || value === 'true';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.toWellFormed();
}

/** Returns undefined for a missing value. Numbers of logfmt are recognized by their text. */
function typeOf(value: unknown): FieldType | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'BOOLEAN';
    case 'number':
      return Number.isSafeInteger(value) ? 'INT64' : typeOfNumber(String(value));
    case 'string':
      return typeOfText(value);
    default:
      return value === null || value === undefined ? undefined : 'STRING';
  }
}

function typeOfText(text: string): FieldType | undefined {
  if (text === '') return undefined;
  if (text === 'true' || text === 'false') return 'BOOLEAN';
  return typeOfNumber(text);
}

function typeOfNumber(text: string): FieldType {
  if (INTEGER.test(text) && (text.length <= MAX_CERTAIN_DIGITS || isInt64(text))) return 'INT64';
  return NUMBER.test(text) ? 'DOUBLE' : 'STRING';
}

function isInt64(text: string): boolean {
  const value = BigInt(text);
  return value <= MAX_INT64 && value >= -MAX_INT64;
}

function commonType(a: FieldType | undefined, b: FieldType): FieldType {
  if (a === undefined || a === b) return b;
  const areNumbers = [a, b].every(type => type === 'INT64' || type === 'DOUBLE');
  return areNumbers ? 'DOUBLE' : 'STRING';
}
