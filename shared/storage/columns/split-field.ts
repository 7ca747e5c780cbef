/**
 * Decodes a field whose values are one column of the split lines of its page. A row whose template has the column has the next value.
 * Another row lacks the field if its template is valid for the field's parser. All sizes are checked.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import { type DecodedColumn, FALLBACK_ID, type ParserName } from '../../base/model/page-fields.ts';
import { ByteReader } from '../codec/byte-io.ts';
import { plainNumberColumn, TableColumn } from './column-decoder.ts';
import { consecutiveIds } from './consecutive-ids.ts';
import { rowMarkOf } from './field-extractor.ts';
import { ShapeTable, valueOfNumber } from './number-text.ts';
import { numberedTexts } from './numbered-texts.ts';
import {
  SPLIT_NUMBER,
  SPLIT_NUMBERED,
  SPLIT_TEXT,
  SPLIT_WORDS,
  type SplitFrame,
  type SplitRecord,
} from './split-frame.ts';
import { MAX_NUMBER_WIDTH, numbersOf } from './split-numbers.ts';
import { indexesOfWords, startsOfWords } from './split-words.ts';

interface SplitField {
  readonly parser: ParserName;
  /** Number of the column. */
  readonly column: number;
  /** Bytes of the column; what is kept of them is copied. */
  readonly bytes: Buffer;
}

// What rows of a template have.
const LACKS = 0;
const HAS = 1;
const UNKNOWN = 2;

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
  check(column < frame.columns && parsers.length === frame.templates + 1);
  const record = frame.recordOf(column);
  // A row has at most one value. Counts of damaged records must not take memory.
  check(record.bytes === bytes.length && record.count <= frame.rows);
  const mark = rowMarkOf(parser);
  const kinds = frame.usesOf(column);
  for (let template = 0; template < kinds.length; template++) {
    check(kinds[template] <= 1);
    if (kinds[template] === 0 && parsers[template] !== mark) kinds[template] = UNKNOWN;
  }
  const reader = new ByteReader(bytes);
  if (record.type === SPLIT_NUMBER) {
    check(record.width <= MAX_NUMBER_WIDTH);
    const { ids, fallbackRows } = idsOf(frame, kinds, record.count, undefined, what);
    const mantissas = numbersOf(record, record.count, reader);
    check(reader.remaining === 0);
    return plainNumberColumn(ids, fallbackRows, mantissas, record.detail);
  }
  if (record.type === SPLIT_NUMBERED) {
    check(record.width <= MAX_NUMBER_WIDTH);
    const { ids, fallbackRows } = idsOf(frame, kinds, record.count, undefined, what);
    const { text, starts, numbers } = numberedTexts(record, reader, what);
    return new TableColumn(ids, fallbackRows, text, starts, numbers);
  }
  check(record.type === SPLIT_WORDS || record.type === SPLIT_TEXT);
  const isWords = record.type === SPLIT_WORDS && record.count > 0;
  const starts = isWords ? startsOfWords(record, reader) : startsOfTexts(record, reader);
  const text = Buffer.from(reader.bytes(starts[starts.length - 1]));
  const words = starts.length - 1;
  const indexes = isWords && words > 1 ? indexesOfWords(record, reader) : undefined;
  check(reader.remaining === 0);
  const indexOf = indexes ?? (isWords ? new Uint8Array(record.count) : undefined);
  const { ids, fallbackRows } = idsOf(frame, kinds, record.count, indexOf, what);
  if (isWords) for (let i = 0; i < record.count; i++) if (indexOf![i] >= words) check(false);
  return new TableColumn(ids, fallbackRows, text, starts, isWords ? undefined : numbersIn(text, starts));
}

/**
 * Returns the value ID of each row.
 * @param kinds What rows of each template have
 * @param indexes Index of each value in the table; undefined if it is the value's own number
 */
function idsOf(
  { templateOf }: SplitFrame,
  kinds: Uint8Array,
  values: number,
  indexes: Uint8Array | undefined,
  what: string,
) {
  if (
    indexes === undefined &&
    values === templateOf.length &&
    templateOf.every(template => kinds[template] === HAS)
  )
    return { ids: consecutiveIds(values), fallbackRows: 0 };
  const ids = new Uint32Array(templateOf.length);
  let value = 0;
  let fallbackRows = 0;
  let damaged = 0;
  for (let row = 0; row < ids.length; row++) {
    const kind = kinds[templateOf[row]];
    if (kind === HAS) {
      ids[row] = 1 + (indexes === undefined ? value : indexes[value]);
      value++;
    } else if (kind === UNKNOWN) {
      ids[row] = FALLBACK_ID;
      fallbackRows++;
    } else if (kind !== LACKS) damaged++;
  }
  if (value !== values || damaged > 0)
    throw new CorruptionError(`${what}: the column of the split lines is damaged`);
  return { ids, fallbackRows };
}

function startsOfTexts(record: SplitRecord, reader: ByteReader): Uint32Array {
  const lengths = numbersOf(record, record.count, reader);
  const starts = new Uint32Array(record.count + 1);
  for (let i = 0; i < record.count; i++) {
    const end = starts[i] + lengths[i];
    if (!(lengths[i] >= 0 && end <= reader.remaining)) throw new CorruptionError('lengths of texts');
    starts[i + 1] = end;
  }
  return starts;
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
