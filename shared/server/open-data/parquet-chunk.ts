/**
 * Writes the values of one column of a row group (a column chunk) of a Parquet file from typed arrays. The writer of
 * hyparquet-writer takes values one by one, which takes several times as long; page headers, levels and the footer are
 * from it.
 *
 *     [dictionary page]  data page  data page ...        a page:  header | levels | values, compressed
 *
 * Levels say which values are missing, and which belong to one row. A column here has at most one of each:
 * definition 0 is a missing value or an empty map, repetition 1 continues the map of the value before.
 */
import { constants, zstdCompressSync } from 'node:zlib';
import type { ColumnChunk, Encoding, Statistics } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';

/** Places of values in their rows. */
export interface Slots {
  readonly count: number;
  /** Undefined if every slot has a value. */
  readonly definition?: Uint8Array;
  /** Undefined if every slot is a row. */
  readonly repetition?: Uint8Array;
}

/** Values without the missing ones. */
export type ChunkValues =
  | { readonly type: 'INT64'; readonly numbers: BigInt64Array }
  | { readonly type: 'DOUBLE'; readonly numbers: Float64Array }
  | { readonly type: 'BOOLEAN'; readonly booleans: readonly boolean[] }
  | { readonly type: 'BYTE_ARRAY'; readonly texts: readonly string[] }
  /** Texts by their index in a dictionary. */
  | { readonly type: 'BYTE_ARRAY'; readonly dictionary: readonly string[]; readonly indexes: Uint32Array };

interface Chunk {
  readonly path: readonly string[];
  readonly slots: Slots;
  readonly values: ChunkValues;
}

/** Bytes of texts after which a page ends. Other pages are smaller than 1.5 MB. */
const PAGE_BYTES = 1024 * 1024;
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export function writeChunk(writer: ByteWriter, { path, slots, values }: Chunk): ColumnChunk {
  const start = writer.offset;
  let uncompressed = 0;
  let dictionaryAt: bigint | undefined;
  let encoding: Encoding = 'PLAIN';
  let dataAt = start;
  if ('dictionary' in values) {
    const { dictionary, indexes } = values;
    dictionaryAt = BigInt(start);
    uncompressed += writeDictionary(writer, dictionary);
    dataAt = writer.offset;
    encoding = 'RLE_DICTIONARY';
    const width = 32 - Math.clz32(Math.max(0, dictionary.length - 1));
    uncompressed += writePage(writer, slots, encoding, hybrid(indexes, width, { startsWithWidth: true }));
  } else if ('texts' in values) {
    for (const { bytes, ...part } of textPages(values.texts, slots))
      uncompressed += writePage(writer, part, encoding, bytes);
  } else {
    const bytes = 'booleans' in values ? bitsOf(values.booleans) : bytesOf(values.numbers);
    uncompressed += writePage(writer, slots, encoding, bytes);
  }
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: values.type,
      encodings: dictionaryAt === undefined ? [encoding] : ['PLAIN', encoding],
      path_in_schema: [...path],
      codec: 'ZSTD',
      num_values: BigInt(slots.count),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(dataAt),
      ...(dictionaryAt !== undefined && { dictionary_page_offset: dictionaryAt }),
      ...('numbers' in values && { statistics: statisticsOf(values.numbers, slots.count) }),
    },
  };
}

/** Returns the uncompressed bytes, including the header. */
function writeDictionary(writer: ByteWriter, dictionary: readonly string[]): number {
  const [{ bytes }] = textPages(dictionary, { count: dictionary.length }, Number.POSITIVE_INFINITY);
  const compressed = zstdCompressSync(bytes, ZSTD);
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: bytes.length,
    compressed_page_size: compressed.length,
    dictionary_page_header: { num_values: dictionary.length, encoding: 'PLAIN' },
  });
  const headerBytes = writer.offset - start;
  writer.appendBytes(compressed);
  return headerBytes + bytes.length;
}

/** Returns the uncompressed bytes, including the header. */
function writePage(writer: ByteWriter, slots: Slots, encoding: Encoding, bytes: Uint8Array): number {
  const { count, definition, repetition } = slots;
  const repetitionLevels = repetition === undefined ? NO_BYTES : hybrid(repetition, 1);
  const definitionLevels = definition === undefined ? NO_BYTES : hybrid(definition, 1);
  const levelBytes = repetitionLevels.length + definitionLevels.length;
  const isEmpty = bytes.length === 0;
  const compressed = isEmpty ? bytes : zstdCompressSync(bytes, ZSTD);
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levelBytes + bytes.length,
    compressed_page_size: levelBytes + compressed.length,
    data_page_header_v2: {
      num_values: count,
      num_nulls: definition === undefined ? 0 : zerosOf(definition),
      num_rows: repetition === undefined ? count : zerosOf(repetition),
      encoding,
      definition_levels_byte_length: definitionLevels.length,
      repetition_levels_byte_length: repetitionLevels.length,
      is_compressed: !isEmpty,
    },
  });
  const headerBytes = writer.offset - start;
  writer.appendBytes(repetitionLevels);
  writer.appendBytes(definitionLevels);
  writer.appendBytes(compressed);
  return headerBytes + levelBytes + bytes.length;
}

const NO_BYTES = new Uint8Array(0);

/** Runs and packed bits. Indexes of a dictionary begin with their width. */
function hybrid(
  values: Uint8Array | Uint32Array,
  width: number,
  { startsWithWidth = false } = {},
): Uint8Array {
  const writer = new ByteWriter();
  if (startsWithWidth) writer.appendUint8(width);
  writeRleBitPackedHybrid(writer, values, width);
  return writer.getBytes();
}

function zerosOf(levels: Uint8Array): number {
  let zeros = 0;
  for (let i = 0; i < levels.length; i++) if (levels[i] === 0) zeros++;
  return zeros;
}

const LENGTH_BYTES = 4;
/** UTF-8 bytes of a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/**
 * Pages of texts, each with its length before it. A page ends with a row. There is at least one page.
 *
 * Pitfall: the bytes are valid until the next page is requested.
 */
function* textPages(
  texts: readonly string[],
  { count, definition, repetition }: Slots,
  pageBytes = PAGE_BYTES,
): Generator<Slots & { readonly bytes: Uint8Array }> {
  let buffer = Buffer.allocUnsafe(2 * PAGE_BYTES);
  let length = 0;
  let from = 0;
  let next = 0;
  const page = (to: number) => ({
    count: to - from,
    ...(definition && { definition: definition.subarray(from, to) }),
    ...(repetition && { repetition: repetition.subarray(from, to) }),
    bytes: buffer.subarray(0, length),
  });
  for (let slot = 0; slot < count; slot++) {
    if (length >= pageBytes && (repetition === undefined || repetition[slot] === 0)) {
      yield page(slot);
      from = slot;
      length = 0;
    }
    if (definition !== undefined && definition[slot] === 0) continue;
    const text = texts[next++];
    const needed = length + LENGTH_BYTES + text.length * MAX_UNIT_BYTES;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    const bytes = buffer.write(text, length + LENGTH_BYTES, 'utf8');
    buffer.writeUInt32LE(bytes, length);
    length += LENGTH_BYTES + bytes;
  }
  yield page(count);
}

/** Numbers are stored in little-endian order, as in the memory of every machine that Node.js runs on. */
function bytesOf({ buffer, byteOffset, byteLength }: BigInt64Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function bitsOf(booleans: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(booleans.length / 8));
  for (const [i, value] of booleans.entries()) if (value) bits[i >> 3] |= 1 << (i & 7);
  return bits;
}

/** Bounds, by which readers skip row groups. Texts have none, because each row group has texts of the whole range. */
function statisticsOf(numbers: BigInt64Array | Float64Array, slots: number): Statistics {
  let min = numbers[0];
  let max = numbers[0];
  for (let i = 1; i < numbers.length; i++) {
    const number = numbers[i];
    if (number < min) min = number;
    if (number > max) max = number;
  }
  const null_count = BigInt(slots - numbers.length);
  if (numbers.length === 0) return { null_count };
  // Zero has two signs, which compare as equal.
  return { min_value: min === 0 ? -0 : min, max_value: max === 0 ? 0 : max, null_count };
}
