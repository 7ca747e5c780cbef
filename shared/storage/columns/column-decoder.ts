/**
 * Decodes a field column into typed arrays: for each row, an index into a table of values whose bytes are
 * concatenated. A pipeline can thus test a value once for all rows that have it, and read its bytes like
 * those of a parsed value. Every size is checked before memory is allocated. Inconsistent data throws
 * CorruptionError.
 */

import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import { PAGE_MAX_ROWS } from '../../base/model/page.ts';
import { type DecodedColumn, FALLBACK_ID, type ValueBytes } from '../../base/model/page-fields.ts';
import { ByteReader } from '../codec/byte-io.ts';
import { ZstdDecoder } from '../codec/zstd-decoder.ts';
import { MAX_DICTIONARY_BYTES, MAX_DICTIONARY_VALUES, MAX_DIGITS, MAX_SHAPES } from './bounds.ts';
import { type ColumnCells, FALLBACK_CODE, FIRST_CODE, SHAPE_CODE, TEXT_CODE } from './column-cells.ts';
import {
  DELTA_MODE,
  DICTIONARY_ENCODING,
  MAX_WIDTH,
  NUMBER_ENCODING,
  PLAIN_MODE,
  symbolBits,
} from './column-format.ts';
import { bytesOfIds, consecutiveIds } from './consecutive-ids.ts';
import { MAX_NUMBER_BYTES, mantissaOfNumber, type Shape, valueOfNumber, writeNumber } from './number-text.ts';
import { textAt, textCount } from './text-list.ts';

export { type DecodedColumn, FALLBACK_ID } from '../../base/model/page-fields.ts';

/** Maximum section size: a byte for each row, or the values of a dictionary. */
const MAX_SECTION_BYTES = Math.max(PAGE_MAX_ROWS, MAX_DICTIONARY_BYTES);

const DECODER = new ZstdDecoder();

/** @param what Name of the column in errors */
export function decodeColumn(stored: Buffer, rows: number, what: string): DecodedColumn {
  try {
    return new ColumnReader(stored, rows).read();
  } catch (error) {
    if (error instanceof CorruptionError) throw new CorruptionError(`${what}: ${error.message}`);
    throw error;
  }
}

class ColumnReader {
  readonly #reader: ByteReader;
  readonly #rows: number;

  constructor(stored: Buffer, rows: number) {
    this.#reader = new ByteReader(stored);
    this.#rows = rows;
  }

  read(): DecodedColumn {
    const reader = this.#reader;
    const encoding = reader.byte();
    const rows = reader.varint();
    check(rows === this.#rows && rows <= PAGE_MAX_ROWS, `${rows} rows where the page has ${this.#rows}`);
    const codes = this.#codes();
    check(encoding === DICTIONARY_ENCODING || encoding === NUMBER_ENCODING, `unknown encoding ${encoding}`);
    const column = encoding === DICTIONARY_ENCODING ? this.#dictionary(codes) : this.#numbers(codes);
    check(reader.remaining === 0, `${reader.remaining} bytes after the column`);
    return column;
  }

  /**
   * Reads a section, of `wanted` bytes if known. With `keep`, the result is in separate memory; otherwise it
   * is valid until the next section.
   */
  #section(wanted: number | undefined, keep = false): Buffer {
    const reader = this.#reader;
    const rawBytes = reader.varint();
    check(
      rawBytes === (wanted ?? rawBytes) && rawBytes <= MAX_SECTION_BYTES,
      `a section of ${rawBytes} bytes`,
    );
    const packed = reader.varint();
    if (packed === 0) return reader.bytes(rawBytes);
    const frame = reader.bytes(packed);
    let raw: Buffer;
    try {
      raw = DECODER.unpack(frame, rawBytes);
    } catch (error) {
      throw new CorruptionError(messageOf(error));
    }
    check(raw.length === rawBytes, `${raw.length} decompressed bytes, expected ${rawBytes}`);
    return keep ? Buffer.from(raw) : raw;
  }

  #codes(): Uint32Array {
    const reader = this.#reader;
    const rows = this.#rows;
    const count = reader.count(1);
    check(count > 0 || rows === 0, 'no symbols');
    const symbols = new Uint32Array(count);
    for (let i = 0; i < count; i++) symbols[i] = reader.varint();
    const codes = new Uint32Array(rows);
    const bits = symbolBits(count);
    if (bits === 0) return codes.fill(symbols[0] ?? 0);
    if (bits === 16) {
      const low = this.#section(rows, true);
      const high = this.#section(rows);
      for (let i = 0; i < rows; i++) {
        const symbol = low[i] | (high[i] << 8);
        check(symbol < count, `symbol ${symbol} of ${count}`);
        codes[i] = symbols[symbol];
      }
      return codes;
    }
    const packed = this.#section(Math.ceil((rows * bits) / 8));
    const shift = Math.log2(8 / bits);
    const mask = 8 / bits - 1;
    const low = (1 << bits) - 1;
    for (let i = 0; i < rows; i++) {
      const symbol = (packed[i >>> shift] >>> ((i & mask) * bits)) & low;
      if (symbol >= count) check(false, `symbol ${symbol} of ${count}`);
      codes[i] = symbols[symbol];
    }
    return codes;
  }

  #dictionary(codes: Uint32Array): DecodedColumn {
    const reader = this.#reader;
    const count = reader.varint();
    check(count <= MAX_DICTIONARY_VALUES, `${count} values`);
    const starts = new Uint32Array(count + 1);
    const lengths = new ByteReader(this.#section(undefined, true));
    for (let i = 0; i < count; i++) starts[i + 1] = starts[i] + lengths.varint();
    check(lengths.remaining === 0, 'lengths after the last value');
    const bytes = this.#section(undefined, true);
    check(bytes.length === starts[count], `values of ${starts[count]} bytes in ${bytes.length}`);
    return dictionaryColumn(codes, bytes, starts);
  }

  #numbers(codes: Uint32Array): DecodedColumn {
    const reader = this.#reader;
    const shapes = this.#shapes();
    const texts: Buffer[] = [];
    for (let left = reader.count(1); left > 0; left--) texts.push(reader.block());
    const mode = reader.byte();
    const width = reader.byte();
    check((mode === PLAIN_MODE || mode === DELTA_MODE) && width <= MAX_WIDTH, `mode ${mode}, width ${width}`);
    const base = reader.signedVarint();
    let count = 0;
    for (let row = 0; row < codes.length; row++) if (codes[row] >= TEXT_CODE) count++;
    const mantissas = new Float64Array(count);
    for (let p = 0, factor = 1; p < width; p++, factor *= 256) {
      const plane = this.#section(count);
      for (let i = 0; i < count; i++) mantissas[i] += plane[i] * factor;
    }
    if (mode === DELTA_MODE) sumDeltas(mantissas);
    else for (let i = 0; i < count; i++) mantissas[i] += base;
    return numberColumn(codes, mantissas, shapes, texts);
  }

  #shapes(): Shape[] {
    const reader = this.#reader;
    const count = reader.count(2);
    check(count <= MAX_SHAPES, `${count} shapes`);
    return Array.from({ length: count }, () => {
      const places = reader.byte();
      check(places <= MAX_DIGITS, `${places} digits after the point`);
      return { places, unit: reader.block() };
    });
  }
}

/**
 * Returns the column that `decodeColumn` returns for encoded cells, without encoding them.
 *
 * @param codes Codes of the rows, which become part of the column. Default: those of the cells. Rows can be added that
 * have no value.
 */
export function columnOfCells(cells: ColumnCells, codes = cells.codes): DecodedColumn {
  if (cells.kind === 'dictionary') return dictionaryColumn(codes, cells.values.bytes, cells.values.starts);
  const { mantissas, shapes, texts } = cells;
  const ofValues = mantissas.filter((_, row) => cells.codes[row] >= TEXT_CODE);
  const list = Array.from({ length: textCount(texts) }, (_, i) => textAt(texts, i));
  return numberColumn(codes, ofValues, shapes, list);
}

/** Checks the codes, and turns them into value numbers in place. */
function dictionaryColumn(codes: Uint32Array, bytes: Buffer, starts: Uint32Array): DecodedColumn {
  const count = starts.length - 1;
  let fallbackRows = 0;
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    if (code === FALLBACK_CODE) {
      codes[row] = FALLBACK_ID;
      fallbackRows++;
    } else if (code >= FIRST_CODE) {
      if (code - FIRST_CODE >= count) check(false, `value ${code - FIRST_CODE} of ${count}`);
      codes[row] = code - FIRST_CODE + 1;
    }
  }
  return new TableColumn(codes, fallbackRows, bytes, starts);
}

function sumDeltas(values: Float64Array): void {
  let before = 0;
  for (let i = 0; i < values.length; i++) {
    const folded = values[i];
    before += folded % 2 === 1 ? -(folded + 1) / 2 : folded / 2;
    values[i] = before;
  }
}

/** Checks each number, and assigns an index to each row with one. Texts are written on demand. */
function numberColumn(
  codes: Uint32Array,
  mantissas: Float64Array,
  shapes: readonly Shape[],
  texts: readonly Buffer[],
): DecodedColumn {
  const count = mantissas.length;
  const numbers = new Float64Array(count).fill(Number.NaN);
  const codeOf = new Uint8Array(count);
  const used = new Uint8Array(texts.length);
  let fallbackRows = 0;
  let value = 0;
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    if (code === FALLBACK_CODE) {
      codes[row] = FALLBACK_ID;
      fallbackRows++;
    }
    if (code < TEXT_CODE) continue;
    const mantissa = mantissas[value];
    if (code === TEXT_CODE) {
      if (!(mantissa < texts.length) || mantissa < 0 || used[mantissa] === 1)
        check(false, `text ${mantissa} of ${texts.length}`);
      used[mantissa] = 1;
    } else {
      const shape = shapes[code - SHAPE_CODE];
      if (shape === undefined || Math.abs(mantissa) >= MAX_MANTISSA)
        check(false, `number ${mantissa}, code ${code}`);
      if (shape.unit.length === 0) numbers[value] = valueOfNumber(mantissa, shape.places);
    }
    codeOf[value++] = code;
    codes[row] = value;
  }
  const ids = count === codes.length ? consecutiveIds(count) : codes;
  const isPlain = texts.length === 0 && shapes.length === 1 && shapes[0].unit.length === 0;
  return new NumberColumn(
    ids,
    fallbackRows,
    numbers,
    shapes,
    isPlain ? undefined : { codeOf, mantissas, texts },
  );
}

/**
 * Column of numbers without units, all with the same digits after the point.
 * @param mantissas Numbers in the order of the rows, which become part of the column
 */
export function plainNumberColumn(
  ids: Uint32Array,
  fallbackRows: number,
  mantissas: Float64Array,
  places: number,
): DecodedColumn {
  check(places <= MAX_DIGITS, `${places} digits after the point`);
  for (let i = 0; i < mantissas.length; i++) {
    const mantissa = mantissas[i];
    if (Math.abs(mantissa) >= MAX_MANTISSA) check(false, `number ${mantissa}`);
    mantissas[i] = valueOfNumber(mantissa, places);
  }
  return new NumberColumn(ids, fallbackRows, mantissas, [{ places, unit: NO_BYTES }]);
}

const MAX_MANTISSA = 10 ** MAX_DIGITS;
const NO_BYTES = Buffer.alloc(0);

/** Values of a column that are not all numbers of one shape. */
interface MixedValues {
  /** TEXT_CODE, or SHAPE_CODE + index of the shape. */
  readonly codeOf: Uint8Array;
  /** Digits as a whole number, or index of the text. */
  readonly mantissas: Float64Array;
  readonly texts: readonly Buffer[];
}

/** Column of numbers. Most queries use only the numbers, so texts are written one by one when they are requested. */
class NumberColumn implements DecodedColumn {
  readonly ids: Uint32Array;
  readonly fallbackRows: number;
  readonly count: number;
  readonly numbers: Float64Array;
  readonly #shapes: readonly Shape[];
  readonly #mixed: MixedValues | undefined;
  #written: Buffer | undefined;
  readonly #value: ValueBytes = { source: NO_BYTES, start: 0, end: 0 };

  /** @param mixed Undefined if all values are numbers of the first shape, without a unit */
  constructor(
    ids: Uint32Array,
    fallbackRows: number,
    numbers: Float64Array,
    shapes: readonly Shape[],
    mixed?: MixedValues,
  ) {
    this.ids = ids;
    this.fallbackRows = fallbackRows;
    this.count = numbers.length;
    this.numbers = numbers;
    this.#shapes = shapes;
    this.#mixed = mixed;
  }

  get heldBytes(): number {
    let bytes = bytesOfIds(this.ids) + this.numbers.byteLength;
    if (this.#mixed === undefined) return bytes;
    const { codeOf, mantissas, texts } = this.#mixed;
    bytes += codeOf.length + mantissas.byteLength;
    for (const text of texts) bytes += text.length;
    return bytes;
  }

  bytesAt(index: number): ValueBytes {
    const value = this.#value;
    const mixed = this.#mixed;
    const code = mixed === undefined ? SHAPE_CODE : mixed.codeOf[index];
    if (code === TEXT_CODE) {
      const { mantissas, texts } = mixed!;
      value.source = texts[mantissas[index]];
      value.end = value.source.length;
      return value;
    }
    const shape = this.#shapes[code - SHAPE_CODE];
    const mantissa = mixed?.mantissas[index] ?? mantissaOfNumber(this.numbers[index], shape.places);
    this.#written ??= Buffer.allocUnsafeSlow(MAX_NUMBER_BYTES);
    value.source = this.#written;
    value.end = writeNumber(this.#written, 0, mantissa, shape);
    return value;
  }

  valueAt(index: number): string {
    if (index >= this.count) throw new CorruptionError(`value ${index} of ${this.count}`);
    const { source, end } = this.bytesAt(index);
    return source.utf8Slice(0, end);
  }
}

/** Column of values whose texts are stored. */
export class TableColumn implements DecodedColumn {
  readonly ids: Uint32Array;
  readonly fallbackRows: number;
  readonly count: number;
  readonly numbers: Float64Array | undefined;
  readonly #starts: Uint32Array;
  readonly #value: ValueBytes;
  readonly #texts: (string | undefined)[] = [];

  constructor(
    ids: Uint32Array,
    fallbackRows: number,
    bytes: Buffer,
    starts: Uint32Array,
    numbers?: Float64Array,
  ) {
    this.ids = ids;
    this.numbers = numbers;
    this.fallbackRows = fallbackRows;
    this.count = starts.length - 1;
    this.#starts = starts;
    this.#value = { source: bytes, start: 0, end: 0 };
  }

  get heldBytes(): number {
    const { ids, numbers } = this;
    return (
      bytesOfIds(ids) +
      this.#value.source.length +
      this.#starts.byteLength +
      (numbers === undefined ? 0 : numbers.byteLength)
    );
  }

  bytesAt(index: number): ValueBytes {
    const value = this.#value;
    value.start = this.#starts[index];
    value.end = this.#starts[index + 1];
    return value;
  }

  valueAt(index: number): string {
    if (index >= this.count) throw new CorruptionError(`value ${index} of ${this.count}`);
    const known = this.#texts[index];
    if (known !== undefined) return known;
    const { source, start, end } = this.bytesAt(index);
    return (this.#texts[index] = source.utf8Slice(start, end));
  }
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new CorruptionError(message);
}
