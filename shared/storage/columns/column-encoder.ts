/** Encodes the cells of a field column; see column-format.ts. */
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

/** @param compression Parameters for the sections */
export function encodeColumn(cells: ColumnCells, compression: Compression): Buffer {
  const writer = new ByteWriter(1024);
  writer.byte(cells.kind === 'dictionary' ? DICTIONARY_ENCODING : NUMBER_ENCODING);
  writer.varint(cells.codes.length);
  writeCodes(writer, cells.codes, compression);
  if (cells.kind === 'dictionary') writeValues(writer, cells, compression);
  else writeNumbers(writer, cells, compression);
  return writer.finish();
}

function writeSection(writer: ByteWriter, raw: Uint8Array, compression: Compression): void {
  const block = storeBlockSync(raw, compression);
  writer.varint(raw.length);
  writer.varint(block.codec === CODEC_RAW ? 0 : block.bytes.length);
  writer.bytes(block.bytes);
}

function writeCodes(writer: ByteWriter, codes: Uint32Array, compression: Compression): void {
  let max = 0;
  for (let i = 0; i < codes.length; i++) if (codes[i] > max) max = codes[i];
  const symbolOf = new Uint16Array(max + 1);
  for (let i = 0; i < codes.length; i++) symbolOf[codes[i]] = 1;
  const symbols: number[] = [];
  for (let code = 0; code <= max; code++) {
    if (symbolOf[code] === 0) continue;
    symbolOf[code] = symbols.length;
    symbols.push(code);
  }
  writer.varint(symbols.length);
  for (const code of symbols) writer.varint(code);
  const bits = symbolBits(symbols.length);
  if (bits === 0) return;
  if (bits === 16) {
    const low = new Uint8Array(codes.length);
    const high = new Uint8Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      const symbol = symbolOf[codes[i]];
      low[i] = symbol & 0xff;
      high[i] = symbol >>> 8;
    }
    writeSection(writer, low, compression);
    writeSection(writer, high, compression);
    return;
  }
  const packed = new Uint8Array(Math.ceil((codes.length * bits) / 8));
  const shift = Math.log2(8 / bits);
  const mask = 8 / bits - 1;
  for (let i = 0; i < codes.length; i++) packed[i >>> shift] |= symbolOf[codes[i]] << ((i & mask) * bits);
  writeSection(writer, packed, compression);
}

function writeValues(writer: ByteWriter, { values }: DictionaryCells, compression: Compression): void {
  const lengths = new ByteWriter(values.length + 8);
  for (const value of values) lengths.varint(value.length);
  const bytes = Buffer.concat(values);
  writer.varint(values.length);
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
  writer.varint(texts.length);
  for (const text of texts) writer.block(text);

  const plain = new Float64Array(codes.length);
  let count = 0;
  for (let row = 0; row < codes.length; row++) if (codes[row] >= TEXT_CODE) plain[count++] = mantissas[row];
  let base = count === 0 ? 0 : Infinity;
  let max = 0;
  let maxDelta = 0;
  let before = 0;
  for (let i = 0; i < count; i++) {
    base = Math.min(base, plain[i]);
    maxDelta = Math.max(maxDelta, zigzag(plain[i] - before));
    before = plain[i];
  }
  for (let i = 0; i < count; i++) max = Math.max(max, plain[i] - base);
  const usesDelta = widthOf(maxDelta) < widthOf(max);
  const width = usesDelta ? widthOf(maxDelta) : widthOf(max);
  writer.byte(usesDelta ? DELTA_MODE : PLAIN_MODE);
  writer.byte(width);
  writer.signedVarint(usesDelta ? 0 : base);
  const planes = Array.from({ length: width }, () => new Uint8Array(count));
  before = 0;
  for (let i = 0; i < count; i++) {
    let rest = usesDelta ? zigzag(plain[i] - before) : plain[i] - base;
    before = plain[i];
    for (let p = 0; p < width; p++) {
      const next = Math.floor(rest / 256);
      planes[p][i] = rest - next * 256;
      rest = next;
    }
  }
  for (const plane of planes) writeSection(writer, plane, compression);
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function widthOf(max: number): number {
  let width = 0;
  for (let rest = max; rest > 0 && width < MAX_WIDTH; rest = Math.floor(rest / 256)) width++;
  return width;
}
