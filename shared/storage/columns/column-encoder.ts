/** Encodes the cells of a field column; see column-format.ts. */
import { fieldScannerOfThread } from '../../base/kernels/field-scanner.ts';
import { returnIfPooled } from '../../base/model/stored-bytes.ts';
import { ByteWriter } from '../codec/byte-io.ts';
import { CODEC_RAW, type Compression, storeBlockSync } from '../codec/compression.ts';
import { type ColumnCells, type DictionaryCells, type NumberCells, TEXT_CODE } from './column-cells.ts';
import {
  DELTA_MODE,
  DICTIONARY_ENCODING,
  MAX_WIDTH,
  NUMBER_ENCODING,
  PLAIN_MODE,
  symbolBits,
} from './column-format.ts';
import { textAt, textCount } from './text-list.ts';

/** @param compression Parameters for the sections */
export function encodeColumn(cells: ColumnCells, compression: Compression): Buffer {
  const writer = new ByteWriter(1024);
  writer.byte(cells.kind === 'dictionary' ? DICTIONARY_ENCODING : NUMBER_ENCODING);
  writer.varint(cells.codes.length);
  writeCodes(writer, cells.codes, compression);
  if (cells.kind === 'dictionary') writeValues(writer, cells, compression);
  else writeNumbers(writer, cells, compression);
  return writer.view();
}

function writeSection(writer: ByteWriter, raw: Uint8Array, compression: Compression): void {
  const block = storeBlockSync(raw, compression);
  writer.varint(raw.length);
  writer.varint(block.codec === CODEC_RAW ? 0 : block.bytes.length);
  writer.bytes(block.bytes);
  returnIfPooled(block.bytes);
}

function writeCodes(writer: ByteWriter, codes: Uint32Array, compression: Compression): void {
  const rows = codes.length;
  const sizeOf = (used: number) => Math.ceil((rows * symbolBits(used)) / 8);
  const { used, numbers } = fieldScannerOfThread().packCodes(codes, sizeOf);
  writer.varint(used.length);
  for (const code of used) writer.varint(code);
  if (used.length <= 1) return;
  writeSection(writer, numbers.subarray(0, rows), compression);
  if (numbers.length > rows) writeSection(writer, numbers.subarray(rows), compression);
}

function writeValues(writer: ByteWriter, { values }: DictionaryCells, compression: Compression): void {
  const count = textCount(values);
  const { bytes, starts } = values;
  const lengths = new ByteWriter(count + 8);
  for (let i = 0; i < count; i++) lengths.varint(starts[i + 1] - starts[i]);
  writer.varint(count);
  writeSection(writer, lengths.view(), compression);
  writeSection(writer, bytes, compression);
}

function writeNumbers(writer: ByteWriter, cells: NumberCells, compression: Compression): void {
  const { codes, mantissas, shapes, texts } = cells;
  writer.varint(shapes.length);
  for (const { places, unit } of shapes) {
    writer.byte(places);
    writer.block(unit);
  }
  const textNumber = textCount(texts);
  writer.varint(textNumber);
  for (let i = 0; i < textNumber; i++) writer.block(textAt(texts, i));

  const plain = new Float64Array(codes.length);
  let count = 0;
  for (let row = 0; row < codes.length; row++) if (codes[row] >= TEXT_CODE) plain[count++] = mantissas[row];
  const { base, usesDelta, max } = spanOf(plain, count);
  const width = widthOf(max);
  writer.byte(usesDelta ? DELTA_MODE : PLAIN_MODE);
  writer.byte(width);
  writer.signedVarint(usesDelta ? 0 : base);
  let before = 0;
  for (let i = 0; i < count; i++) {
    const value = plain[i];
    plain[i] = usesDelta ? zigzag(value - before) : value - base;
    before = value;
  }
  for (let p = 0; p < width; p++) writeSection(writer, planeOf(plain, count, p), compression);
}

interface NumberSpan {
  readonly base: number;
  /** Whether differences to the number before are shorter than those to the base. */
  readonly usesDelta: boolean;
  /** Largest difference. */
  readonly max: number;
}

function spanOf(values: Float64Array, count: number): NumberSpan {
  if (count === 0) return { base: 0, usesDelta: false, max: 0 };
  let base = Infinity;
  let most = -Infinity;
  let maxDelta = 0;
  let before = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    const delta = zigzag(value - before);
    if (value < base) base = value;
    if (value > most) most = value;
    if (delta > maxDelta) maxDelta = delta;
    before = value;
  }
  const usesDelta = widthOf(maxDelta) < widthOf(most - base);
  return { base, usesDelta, max: usesDelta ? maxDelta : most - base };
}

/** Returns one byte of each value; byte 0 is the lowest. */
function planeOf(values: Float64Array, count: number, byte: number): Uint8Array {
  const plane = new Uint8Array(count);
  const factor = 256 ** -byte;
  // The conversion cuts the fraction, and takes the lowest byte of whole numbers.
  for (let i = 0; i < count; i++) plane[i] = values[i] * factor;
  return plane;
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function widthOf(max: number): number {
  let width = 0;
  for (let rest = max; rest > 0 && width < MAX_WIDTH; rest = Math.floor(rest / 256)) width++;
  return width;
}
