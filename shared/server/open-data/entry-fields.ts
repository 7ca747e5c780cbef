/** Frequent fields of JSON and logfmt lines as columns, with the common type of their values. */
import type { TextRanges } from '../../base/kernels/text-columns.ts';
import { blockEnd } from '../../base/text/json-scan.ts';
import { ESCAPED, STRUCTURE } from '../../storage/columns/line-members.ts';
import { type EntryTable, ROW_GROUP_ROWS } from './entry-table.ts';
import { FieldFinder } from './field-finder.ts';
import type { ChunkValues, ValueSlots } from './parquet-chunk.ts';
import { type ParquetType, typedNumber, writeInteger, writeIntegers } from './parquet-types.ts';
import type { ScannedField } from './scanned-field.ts';
import { scratch } from './scratch.ts';
import { textValues } from './text-values.ts';

/** Maximum number of columns, because larger tables are hard to read. */
const MAX_COLUMNS = 30;
/** Minimum share of rows with the field. Rarer fields are still in the line. */
const MIN_SHARE = 0.1;
const TRUE_START = 0x74;

/** Columns for the rows of a table, sorted by name. */
export function fieldColumns(table: EntryTable, finder = new FieldFinder()): readonly ParquetField[] {
  return finder
    .find(table)
    .filter(({ count, type }) => type !== undefined && count >= table.count * MIN_SHARE)
    .sort((x, y) => y.count - x.count || (x.name < y.name ? -1 : 1))
    .filter((field, i, all) => all.findIndex(({ name }) => columnName(name) === columnName(field.name)) === i)
    .slice(0, MAX_COLUMNS)
    .sort((x, y) => (x.name < y.name ? -1 : 1))
    .map(field => new ParquetField(table, field));
}

/** Column name with a prefix, which SQL accepts without quotes. It is in lower case, because SQL ignores case. */
export function columnName(field: string): string {
  return `field_${field.replaceAll(/[^a-zA-Z0-9_]/g, '_').toLowerCase()}`;
}

export class ParquetField {
  readonly name: string;
  readonly type: ParquetType;
  readonly #table: EntryTable;
  readonly #field: ScannedField;
  #next = 0;

  constructor(table: EntryTable, field: ScannedField) {
    this.name = columnName(field.name);
    this.type = field.type!;
    this.#table = table;
    if (this.type === 'STRING' && !field.isPlain) completeTexts(table, field);
    // An empty text is a missing number.
    const isNumber = this.type !== 'STRING';
    if (!field.isInOrder || (isNumber && field.hasEmpty)) sortValues(field, table.count, isNumber);
    this.#field = field;
  }

  /** Values of rows `from` to `to`, to be called for all rows in order. Valid until the next chunk of any column. */
  chunk(from: number, to: number): { readonly slots: ValueSlots; readonly values: ChunkValues } {
    const { length, rows, starts, ends, areNumbers, numbers, groups, indexes } = this.#field;
    const definition = scratch('definition', Uint8Array, to - from).fill(0);
    const first = this.#next;
    let next = first;
    while (next < length && rows[next] < to) definition[rows[next++] - from] = 1;
    this.#next = next;
    const { bytes } = this.#table;
    const texts = { bytes, starts: starts.subarray(first, next), ends: ends.subarray(first, next) };
    const slots = { count: to - from, definition };
    if (this.type !== 'STRING') {
      const values = areNumbers
        ? numberValues(this.type, numbers.subarray(first, next))
        : parsedValues(this.type, texts);
      return { slots, values };
    }
    const group = groups[from / ROW_GROUP_ROWS];
    if (group === 'plain') return { slots, values: { type: 'BYTE_ARRAY', texts } };
    if (group === undefined) return { slots, values: textValues(texts) };
    const own = indexes.subarray(first, next);
    return { slots, values: { type: 'BYTE_ARRAY', dictionary: group, indexes: own } };
  }
}

/** Sorts the values by their rows. What was found for their old order is not used. */
function sortValues(field: ScannedField, count: number, dropsEmpty: boolean): void {
  const { length, rows, starts, ends } = field;
  field.areNumbers = false;
  field.groups = [];
  const [oldStarts, oldEnds] = [scratch('starts', Uint32Array, length), scratch('ends', Uint32Array, length)];
  oldStarts.set(starts.subarray(0, length));
  oldEnds.set(ends.subarray(0, length));
  // 1 + index of each row's value, or 0 if the row has none.
  const valueOfRow = scratch('valueOfRow', Uint32Array, count).fill(0);
  for (let i = 0; i < length; i++) if (!dropsEmpty || starts[i] < ends[i]) valueOfRow[rows[i]] = i + 1;
  let next = 0;
  for (let row = 0; row < count; row++) {
    const value = valueOfRow[row] - 1;
    if (value < 0) continue;
    rows[next] = row;
    starts[next] = oldStarts[value];
    ends[next++] = oldEnds[value];
  }
  field.length = next;
}

type NumberType = Exclude<ParquetType, 'STRING'>;

function numberValues(type: NumberType, numbers: Float64Array): ChunkValues {
  switch (type) {
    case 'INT64': {
      const words = scratch('words', Uint32Array, 2 * numbers.length);
      writeIntegers(words, numbers);
      return { type, words };
    }
    case 'DOUBLE':
      return { type, numbers };
    case 'BOOLEAN':
      return { type, booleans: Uint8Array.from(numbers) };
  }
}

function parsedValues(type: NumberType, texts: TextRanges): ChunkValues {
  const { bytes, starts, ends } = texts;
  const count = starts.length;
  switch (type) {
    case 'INT64': {
      const words = scratch('words', Uint32Array, 2 * count);
      for (let i = 0; i < count; i++) writeInteger(words, 2 * i, bytes, starts[i], ends[i]);
      return { type, words };
    }
    case 'DOUBLE': {
      const numbers = scratch('numbers', Float64Array, count);
      for (let i = 0; i < count; i++) numbers[i] = typedNumber(bytes, starts[i], ends[i]);
      return { type, numbers };
    }
    case 'BOOLEAN': {
      const booleans = scratch('booleans', Uint8Array, count);
      for (let i = 0; i < count; i++) booleans[i] = bytes[starts[i]] === TRUE_START ? 1 : 0;
      return { type, booleans };
    }
  }
}

/** Replaces values with escapes by their text, which is added to the table, and finds the ends of objects and arrays. */
function completeTexts(table: EntryTable, { length, rows, starts, ends, kinds }: ScannedField): void {
  for (let i = 0; i < length; i++) {
    if (kinds[i] === ESCAPED) {
      starts[i] = table.addText(unescaped(table.bytes.toString('utf8', starts[i], ends[i])));
      ends[i] = table.byteLength;
    } else if (kinds[i] === STRUCTURE) {
      const end = blockEnd(table.bytes, starts[i], table.offsets[rows[i] + 1]);
      if (end >= 0) ends[i] = end;
    }
  }
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return quoted;
  }
}
