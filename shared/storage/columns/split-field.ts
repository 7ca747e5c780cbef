/**
 * Decodes a field whose values are one column of the split lines of its page. A row whose template has the column has the next value.
 * Another row lacks the field if its template is valid for the field's parser. All sizes are checked.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import { type DecodedColumn, FALLBACK_ID, type ParserName } from '../../base/model/page-fields.ts';
import { ByteReader } from '../codec/byte-io.ts';
import { ABSENT_CODE, FALLBACK_CODE, SHAPE_CODE } from './column-cells.ts';
import { numberColumn, TableColumn } from './column-decoder.ts';
import { rowMarkOf } from './field-extractor.ts';
import { ShapeTable, valueOfNumber } from './number-text.ts';
import { SPLIT_NUMBER, SPLIT_TEXT, SPLIT_WORDS, type SplitFrame, type SplitRecord } from './split-frame.ts';

/** Maximum bytes of a number in a column, so that numbers are exact in a double. */
export const MAX_NUMBER_WIDTH = 6;
const DELTA = 1;

interface SplitField {
  readonly parser: ParserName;
  /** Number of the column. */
  readonly column: number;
  readonly bytes: Buffer;
}

/**
 * @param parsers Parser mark of each template, template 0 first
 * @param what Name of the field in errors
 */
export function decodeSplitField(
  frame: SplitFrame,
  parsers: Uint8Array,
  { parser, column, bytes }: SplitField,
  what: string,
): DecodedColumn {
  const check = (condition: boolean) => {
    if (!condition) throw new CorruptionError(`${what}: the column of the split lines is damaged`);
  };
  const record = frame.records[column];
  check(record !== undefined && record.bytes === bytes.length && parsers.length === frame.templates + 1);
  const uses = frame.usesOf(column);
  check(uses.every(count => count <= 1));
  const mark = rowMarkOf(parser);
  const { templateOf } = frame;
  const codes = new Uint32Array(templateOf.length);
  let values = 0;
  let fallbackRows = 0;
  for (let row = 0; row < codes.length; row++) {
    const template = templateOf[row];
    if (uses[template] !== 0) {
      codes[row] = SHAPE_CODE;
      values++;
    } else if (parsers[template] === mark) codes[row] = ABSENT_CODE;
    else {
      codes[row] = FALLBACK_CODE;
      fallbackRows++;
    }
  }
  check(values === record.count);
  const reader = new ByteReader(bytes);
  if (record.type === SPLIT_NUMBER) {
    check(record.width <= MAX_NUMBER_WIDTH);
    const mantissas = numbersOf(record, reader);
    check(reader.remaining === 0);
    return numberColumn(codes, mantissas, [{ places: record.detail, unit: Buffer.alloc(0) }], []);
  }
  check(record.type === SPLIT_WORDS || record.type === SPLIT_TEXT);
  const isWords = record.type === SPLIT_WORDS && record.count > 0;
  const texts = isWords ? wordsOf(record, reader) : textsOf(record, reader);
  const { starts, indexes } = texts;
  const text = reader.bytes(starts[starts.length - 1]);
  const own = isWords && starts.length > 2 ? reader.bytes(record.count) : indexes;
  check(reader.remaining === 0);
  let value = 0;
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] === FALLBACK_CODE) codes[row] = FALLBACK_ID;
    else if (codes[row] !== ABSENT_CODE) {
      const index = own === undefined ? value : own[value];
      check(index < starts.length - 1);
      codes[row] = 1 + index;
      value++;
    }
  }
  return new TableColumn(codes, fallbackRows, text, starts, isWords ? undefined : numbersIn(text, starts));
}

interface Texts {
  readonly starts: Uint32Array;
  /** Index of each value; undefined if it is the value's own number. */
  readonly indexes: Uint8Array | undefined;
}

function wordsOf({ number, count }: SplitRecord, reader: ByteReader): Texts {
  const lengths = reader.bytes(2 * number);
  const starts = new Uint32Array(number + 1);
  for (let i = 0; i < number; i++) starts[i + 1] = starts[i] + lengths.readUInt16LE(2 * i);
  return { starts, indexes: new Uint8Array(count) };
}

function textsOf(record: SplitRecord, reader: ByteReader): Texts {
  const lengths = numbersOf(record, reader);
  const starts = new Uint32Array(record.count + 1);
  for (let i = 0; i < record.count; i++) {
    const end = starts[i] + lengths[i];
    if (!(lengths[i] >= 0 && end <= reader.remaining)) throw new CorruptionError('lengths of texts');
    starts[i + 1] = end;
  }
  return { starts, indexes: undefined };
}

/** Numbers of a record: the lowest bytes of all, then the second ones and so on. */
function numbersOf({ width, mode, base, count }: SplitRecord, reader: ByteReader): Float64Array {
  const numbers = new Float64Array(count);
  for (let plane = 0, factor = 1; plane < width; plane++, factor *= 256) {
    const bytes = reader.bytes(count);
    for (let i = 0; i < count; i++) numbers[i] += bytes[i] * factor;
  }
  let last = base;
  for (let i = 0; i < count; i++) {
    const own = numbers[i];
    if (mode !== DELTA) numbers[i] = base + own;
    else {
      last += own % 2 === 1 ? -(own + 1) / 2 : own / 2;
      numbers[i] = last;
    }
  }
  return numbers;
}

/** Returns the number of each text, or NaN. */
function numbersIn(text: Buffer, starts: Uint32Array): Float64Array {
  const numbers = new Float64Array(starts.length - 1).fill(Number.NaN);
  const shapes = new ShapeTable();
  for (let i = 0; i < numbers.length; i++) {
    const shape = shapes.read(text, starts[i], starts[i + 1]);
    if (shape < 0) continue;
    const { places, unit } = shapes.shapes[shape];
    if (unit.length === 0) numbers[i] = valueOfNumber(shapes.mantissa, places);
  }
  return numbers;
}
