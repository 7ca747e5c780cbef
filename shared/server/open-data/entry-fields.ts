/** Frequent fields of JSON and logfmt lines as columns, with the common type of their values. */
import { parseObject } from '../../base/text/json-object.ts';
import { parseLogfmt } from '../../base/text/logfmt-pairs.ts';

type Fields = Readonly<Record<string, unknown>>;

type FieldType = 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'STRING';

/** Column with the values of the rows that have one, in order. */
export type FieldColumn = { readonly name: string; readonly rows: readonly number[] } & FieldValues;

export type FieldValues =
  | { readonly type: 'INT64'; readonly values: readonly bigint[] }
  | { readonly type: 'DOUBLE'; readonly values: readonly number[] }
  | { readonly type: 'BOOLEAN'; readonly values: readonly boolean[] }
  | { readonly type: 'STRING'; readonly values: readonly string[] };

/** Maximum number of columns, because larger tables are hard to read. */
const MAX_COLUMNS = 30;
/** Maximum number of counted names. Lines of a hostile client can have new names each. */
const MAX_NAMES = 10_000;
/** Minimum share of rows with the field. Rarer fields are still in the line. */
const MIN_SHARE = 0.1;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const MAX_INT64 = 2n ** 63n - 1n;
const NUMBER = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?$/;
const [MINUS, ZERO, NINE] = Buffer.from('-09');
/** Numbers with more digits can exceed 64 bits. */
const MAX_CERTAIN_DIGITS = 18;

/** Fields of lines, row by row, without the parsed lines. */
export class FieldCollector {
  readonly #found = new Map<string, FoundField>();
  #count = 0;

  /** Adds the next row. Lines that are neither JSON nor logfmt have no fields. */
  add(line: string): void {
    const row = this.#count++;
    const fields: Fields | undefined = parseObject(line) ?? parseLogfmt(line);
    if (fields === undefined) return;
    for (const name of Object.keys(fields)) {
      let known = this.#found.get(name);
      if (known === undefined) {
        if (this.#found.size >= MAX_NAMES) continue;
        known = { count: 0, type: undefined, rows: [], values: [] };
        this.#found.set(name, known);
      }
      known.count++;
      const value = fields[name];
      if (value === null || value === undefined) continue;
      known.rows.push(row);
      known.values.push(value);
      // Every value fits into a text column.
      if (known.type === 'STRING') continue;
      const type = typeOf(value);
      if (type !== undefined) known.type = commonType(known.type, type);
    }
  }

  /** Columns for these rows, sorted by name. */
  frequent(): readonly FieldColumn[] {
    return [...this.#found]
      .filter(([, { count, type }]) => type !== undefined && count >= this.#count * MIN_SHARE)
      .sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1))
      .filter(([name], i, all) => all.findIndex(([other]) => columnName(other) === columnName(name)) === i)
      .slice(0, MAX_COLUMNS)
      .map(([name, found]) => columnOf(name, found))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

interface FoundField {
  /** Rows with the field, also if it has no value. */
  count: number;
  /** Undefined until there is a value. */
  type: FieldType | undefined;
  readonly rows: number[];
  readonly values: unknown[];
}

/** Column name with a prefix, which SQL accepts without quotes. It is in lower case, because SQL ignores case. */
export function columnName(field: string): string {
  return `field_${field.replaceAll(/[^a-zA-Z0-9_]/g, '_').toLowerCase()}`;
}

function columnOf(name: string, { type, rows, values }: FoundField): FieldColumn {
  if (type === 'STRING') return { name, type, rows, values: values.map(textOf) };
  // An empty text is a missing number.
  const isValue = (_: unknown, i: number) => values[i] !== '';
  const column = { name, rows: rows.filter(isValue) };
  const present = values.filter(isValue);
  switch (type) {
    case 'INT64':
      return { ...column, type, values: present.map(value => BigInt(value as string | number)) };
    case 'DOUBLE':
      return { ...column, type, values: present.map(Number) };
    default:
      return { ...column, type: 'BOOLEAN', values: present.map(value => value === true || value === 'true') };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}

/** Returns undefined for an empty text. Numbers of logfmt are recognized by their text. */
function typeOf(value: unknown): FieldType | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'BOOLEAN';
    case 'number':
      return Number.isSafeInteger(value) ? 'INT64' : typeOfNumber(String(value));
    case 'string':
      return typeOfText(value);
    default:
      return 'STRING';
  }
}

function typeOfText(text: string): FieldType | undefined {
  if (text === '') return undefined;
  if (text === 'true' || text === 'false') return 'BOOLEAN';
  // Most texts end here.
  const first = text.charCodeAt(0);
  return first === MINUS || (first >= ZERO && first <= NINE) ? typeOfNumber(text) : 'STRING';
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
