/** Fields of JSON and logfmt lines as columns: those that many lines have, with the type that all their values have. */
import { parseObject } from '../import/formats/json.ts';
import { logfmtFormat } from '../import/formats/logfmt.ts';
import type { Fields } from '../import/line-format.ts';

export type FieldType = 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'STRING';

export interface FieldColumn {
  readonly name: string;
  readonly type: FieldType;
}

/** A table with more columns is hard to read. */
const MAX_COLUMNS = 30;
/** Names that are met; lines of a hostile client have new ones each. */
const MAX_NAMES = 10_000;
/** A field that fewer rows have is in the line anyway. */
const MIN_SHARE = 0.1;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const MAX_INT64 = 2n ** 63n - 1n;
const NUMBER = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?$/;

const logfmt = logfmtFormat();

/** Undefined for a line that is neither. */
export function fieldsOfLine(line: string): Fields | undefined {
  return parseObject(line) ?? logfmt.parse(line)?.fields;
}

/** The columns for these rows, by name. */
export function frequentFields(rows: readonly (Fields | undefined)[]): readonly FieldColumn[] {
  const found = new Map<string, { rows: number; type: FieldType | undefined }>();
  for (const fields of rows) {
    for (const [name, value] of Object.entries(fields ?? {})) {
      const known = found.get(name) ?? { rows: 0, type: undefined };
      if (known.rows === 0 && found.size >= MAX_NAMES) continue;
      const type = typeOf(value);
      found.set(name, {
        rows: known.rows + 1,
        type: type === undefined ? known.type : commonType(known.type, type),
      });
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

/** Apart from the other columns, and a name that SQL takes without quotes, whose case means nothing there. */
export function columnName(field: string): string {
  return `field_${field.replaceAll(/[^a-zA-Z0-9_]/g, '_').toLowerCase()}`;
}

/** Null if the row has no such field. */
export function columnValue(fields: Fields | undefined, { name, type }: FieldColumn): unknown {
  const value = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (value === undefined || value === null || (value === '' && type !== 'STRING')) return null;
  if (type === 'INT64') return BigInt(String(value));
  if (type === 'DOUBLE') return Number(value);
  if (type === 'BOOLEAN') return String(value) === 'true';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Undefined for no value, which any type has room for. Numbers of logfmt are texts that look like them. */
function typeOf(value: unknown): FieldType | undefined {
  if (value === null || value === '' || value === undefined) return undefined;
  if (typeof value === 'object') return 'STRING';
  const text = String(value);
  if (text === 'true' || text === 'false') return 'BOOLEAN';
  return isInt64(text) ? 'INT64' : NUMBER.test(text) ? 'DOUBLE' : 'STRING';
}

function isInt64(text: string): boolean {
  if (!INTEGER.test(text)) return false;
  const value = BigInt(text);
  return value <= MAX_INT64 && value >= -MAX_INT64;
}

function commonType(a: FieldType | undefined, b: FieldType): FieldType {
  if (a === undefined || a === b) return b;
  const areNumbers = [a, b].every(type => type === 'INT64' || type === 'DOUBLE');
  return areNumbers ? 'DOUBLE' : 'STRING';
}
