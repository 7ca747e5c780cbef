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
import type { ColumnChunk, Encoding, Statistics } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { type TextRanges, textColumnsOfThread } from '../../base/kernels/text-columns.ts';
import { PUSH_COMPRESSION } from '../../storage/codec/compression.ts';
import { ZstdSyncEncoder } from '../../storage/codec/zstd-sync-encoder.ts';
import type { TextValues } from './text-values.ts';

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
  /** Two words for each number, the lower one first. */
  | { readonly type: 'INT64'; readonly words: Uint32Array }
  | { readonly type: 'DOUBLE'; readonly numbers: Float64Array }
  /** 0 or 1. */
  | { readonly type: 'BOOLEAN'; readonly booleans: Uint8Array }
  | TextValues;

export interface Chunk {
  readonly path: readonly string[];
  readonly slots: Slots;
  readonly values: ChunkValues;
}

/** Bytes of texts after which a page ends. Other pages are smaller than 1.5 MB. */
const PAGE_BYTES = 1024 * 1024;
/** Larger pages, with a long line, are compressed without the reused context. */
const MAX_REUSED_BYTES = 2 * PAGE_BYTES;

let encoder: ZstdSyncEncoder | undefined;

/** The result is valid until the next call. */
function compress(bytes: Uint8Array): Buffer {
  encoder ??= new ZstdSyncEncoder(PUSH_COMPRESSION, MAX_REUSED_BYTES);
  return encoder.packToCopy(bytes);
}

export function writeColumnChunk(writer: ByteWriter, { path, slots, values }: Chunk): ColumnChunk {
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
    const width = 32 - Math.clz32(Math.max(0, dictionary.starts.length - 1));
    uncompressed += writePage(writer, slots, encoding, indexPage(indexes, width));
  } else if ('texts' in values) {
    for (const { bytes, ...part } of textPages(values.texts, slots))
      uncompressed += writePage(writer, part, encoding, bytes);
  } else {
    const bytes = 'booleans' in values ? bitsOf(values.booleans) : bytesOf(numbersIn(values));
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
      ...(values.type === 'INT64' && { statistics: wordStatistics(values.words, slots.count) }),
      ...(values.type === 'DOUBLE' && { statistics: statisticsOf(values.numbers, slots.count) }),
    },
  };
}

/** Returns the uncompressed bytes, including the header. */
function writeDictionary(writer: ByteWriter, dictionary: TextRanges): number {
  const count = dictionary.starts.length;
  const [{ bytes }] = textPages(dictionary, { count }, UNLIMITED);
  const compressed = compress(bytes);
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: bytes.length,
    compressed_page_size: compressed.length,
    dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
  });
  const headerBytes = writer.offset - start;
  writer.appendBytes(compressed);
  return headerBytes + bytes.length;
}

/** Returns the uncompressed bytes, including the header. */
function writePage(writer: ByteWriter, slots: Slots, encoding: Encoding, bytes: Uint8Array): number {
  const { count, definition, repetition } = slots;
  const nulls = definition === undefined ? 0 : zerosOf(definition);
  const repetitionLevels = repetition === undefined ? NO_BYTES : packed(repetition, 1);
  const definitionLevels = definition === undefined ? NO_BYTES : levelBits(definition, nulls);
  const levelBytes = repetitionLevels.length + definitionLevels.length;
  const isEmpty = bytes.length === 0;
  const compressed = isEmpty ? bytes : compress(bytes);
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levelBytes + bytes.length,
    compressed_page_size: levelBytes + compressed.length,
    data_page_header_v2: {
      num_values: count,
      num_nulls: nulls,
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

/** Indexes of a dictionary begin with their width. A dictionary with one text has no bits to pack. */
function indexPage(indexes: Uint32Array, width: number): Uint8Array {
  return width === 0 ? hybrid(indexes, width, [width]) : packed(indexes, width, [width]);
}

/** Changes in levels from which on they are packed, by their number: runs of that length save a third of the bits. */
const CHANGES_SHARE = 1 / 24;

/** Definition levels as runs, or as bits in a fifth of the time if there are few runs. */
function levelBits(definition: Uint8Array, nulls: number): Uint8Array {
  if (nulls > 0) {
    let changes = 0;
    for (let i = 1; i < definition.length; i++) changes += definition[i] ^ definition[i - 1];
    if (changes > definition.length * CHANGES_SHARE) return packed(definition, 1);
  }
  return hybrid(definition, 1);
}

/** Runs and packed bits. */
function hybrid(values: Uint8Array | Uint32Array, width: number, prefix: readonly number[] = []): Uint8Array {
  const writer = new ByteWriter();
  for (const byte of prefix) writer.appendUint8(byte);
  writeRleBitPackedHybrid(writer, values, width);
  return writer.getBytes();
}

const MAX_VARINT_BYTES = 5;

/** The same form with packed bits only, in a fifth of the time. */
function packed(values: Uint8Array | Uint32Array, width: number, prefix: readonly number[] = []): Uint8Array {
  const groups = Math.ceil(values.length / 8);
  const bytes = new Uint8Array(prefix.length + MAX_VARINT_BYTES + groups * width);
  bytes.set(prefix);
  let at = prefix.length;
  let head = 2 * groups + 1;
  for (; head >= 0x80; head >>>= 7) bytes[at++] = head | 0x80;
  bytes[at++] = head;
  const end = at + groups * width;
  let bits = 0;
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    bits |= values[i] << count;
    for (count += width; count >= 8; count -= 8) {
      bytes[at++] = bits;
      bits >>>= 8;
    }
  }
  if (count > 0) bytes[at] = bits;
  return bytes.subarray(0, end);
}

function zerosOf(levels: Uint8Array): number {
  let ones = 0;
  for (let i = 0; i < levels.length; i++) ones += levels[i];
  return levels.length - ones;
}

/** Number of bytes that no page reaches. */
const UNLIMITED = 2 ** 31 - 1;

/**
 * Pages of texts, each with its length before it. A page ends with a row. There is at least one page.
 *
 * Pitfall: the bytes are valid until the next page is requested, here or by another call.
 */
function* textPages(
  texts: TextRanges,
  { count, definition, repetition }: Slots,
  pageBytes = PAGE_BYTES,
): Generator<Slots & { readonly bytes: Uint8Array }> {
  const columns = textColumnsOfThread();
  columns.open(texts);
  const total = texts.starts.length;
  let slot = 0;
  let value = 0;
  do {
    const page = columns.write(value, total, pageBytes);
    let { bytes, next } = page;
    let end = slot;
    if (next === total) end = count;
    else if (definition === undefined) end += next - value;
    else for (let left = next - value; left > 0; end++) left -= definition[end];
    if (repetition !== undefined && next < total) {
      let rowEnd = end;
      while (rowEnd < count && repetition[rowEnd] === 1) rowEnd++;
      ({ bytes, next } = columns.write(next, next + rowEnd - end, UNLIMITED, bytes.length));
      end = rowEnd;
    }
    yield {
      count: end - slot,
      ...(definition && { definition: definition.subarray(slot, end) }),
      ...(repetition && { repetition: repetition.subarray(slot, end) }),
      bytes,
    };
    slot = end;
    value = next;
  } while (slot < count);
}

/** Numbers are stored in little-endian order, as in the memory of every machine that Node.js runs on. */
function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function bitsOf(booleans: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(booleans.length / 8));
  for (let i = 0; i < booleans.length; i++) bits[i >> 3] |= booleans[i] << (i & 7);
  return bits;
}

function numbersIn(values: Exclude<ChunkValues, TextValues | { readonly type: 'BOOLEAN' }>) {
  return values.type === 'INT64' ? values.words : values.numbers;
}

/** Bounds, by which readers skip row groups. Texts have none, because each row group has texts of the whole range. */
function statisticsOf(numbers: Float64Array, slots: number): Statistics {
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

/** The same for INT64, without an object for each number. */
function wordStatistics(words: Uint32Array, slots: number): Statistics {
  const null_count = BigInt(slots - words.length / 2);
  if (words.length === 0) return { null_count };
  let min = 0;
  let max = 0;
  for (let at = 2; at < words.length; at += 2) {
    if (isLess(words, at, min)) min = at;
    else if (isLess(words, max, at)) max = at;
  }
  return { min_value: integerAt(words, min), max_value: integerAt(words, max), null_count };
}

function isLess(words: Uint32Array, a: number, b: number): boolean {
  const [high, other] = [words[a + 1] | 0, words[b + 1] | 0];
  return high < other || (high === other && words[a] < words[b]);
}

function integerAt(words: Uint32Array, at: number): bigint {
  return (BigInt(words[at + 1] | 0) << 32n) | BigInt(words[at]);
}
