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
import { NO_BYTES, packed, packedFlags, run } from './packed-bits.ts';
import type { PagePacker } from './page-packer.ts';
import type { TextValues, WrittenTexts } from './text-values.ts';

/** Slots of a column, each with a value or without one, and the rows that they belong to. */
export interface ValueSlots {
  readonly count: number;
  /** Undefined if every slot has a value. */
  readonly definition?: Uint8Array;
  /** Undefined if every slot is a row. */
  readonly repetition?: Uint8Array;
  /** The levels as they are written, instead of the two above. Only for a column of one page. */
  readonly encoded?: EncodedLevels;
}

interface EncodedLevels {
  readonly rows: number;
  readonly definition: Uint8Array;
  readonly repetition: Uint8Array;
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
  readonly slots: ValueSlots;
  readonly values: ChunkValues;
}

/** Bytes of texts after which a page ends. Other pages are smaller than 1.5 MB. */
const PAGE_BYTES = 1024 * 1024;

/** File that gets the pages, and where they are compressed. */
interface PageOutput {
  readonly writer: ByteWriter;
  readonly packer: PagePacker;
}

/** Positions and size of the pages of a chunk for the footer, as far as they are written. */
interface ChunkOffsets {
  start: number;
  dictionaryAt: number | undefined;
  dataAt: number | undefined;
  /** Bytes before compression, including the headers. */
  uncompressed: number;
}

/** Resolves when the next chunk may be built. Calls `onWritten` when all pages of this one are written. */
export async function writeColumnChunk(
  output: PageOutput,
  { path, slots, values }: Chunk,
  onWritten: (chunk: ColumnChunk) => void,
): Promise<void> {
  const { writer, packer } = output;
  const offsets: ChunkOffsets = { start: 0, dictionaryAt: undefined, dataAt: undefined, uncompressed: 0 };
  let encoding: Encoding = 'PLAIN';
  packer.inOrder(() => {
    offsets.start = writer.offset;
  });
  if ('dictionary' in values) {
    const { dictionary } = values;
    encoding = 'RLE_DICTIONARY';
    await writeDictionary(output, offsets, dictionary);
    const [count, page] =
      'indexPage' in values
        ? [values.count, values.indexPage]
        : [values.indexes.length, indexPage(values.indexes, indexWidth(dictionary))];
    await writePage(output, offsets, { slots, values: count, encoding, bytes: page });
  } else if ('texts' in values) {
    for (const { bytes, values: count, ...part } of textPages(values.texts, slots))
      await writePage(output, offsets, { slots: part, values: count, encoding, bytes });
  } else {
    const [count, bytes] =
      'booleans' in values
        ? [values.booleans.length, bitsOf(values.booleans)]
        : [countOf(values), bytesOf(numbersIn(values))];
    await writePage(output, offsets, { slots, values: count, encoding, bytes });
  }
  const statistics = statisticsIn(values, slots.count);
  packer.inOrder(() => {
    const { start, dictionaryAt, dataAt = start, uncompressed } = offsets;
    onWritten({
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
        ...(dictionaryAt !== undefined && { dictionary_page_offset: BigInt(dictionaryAt) }),
        ...(statistics && { statistics }),
      },
    });
  });
}

function statisticsIn(values: ChunkValues, slots: number): Statistics | undefined {
  if (values.type === 'INT64') return wordStatistics(values.words, slots);
  return values.type === 'DOUBLE' ? statisticsOf(values.numbers, slots) : undefined;
}

async function writeDictionary(
  { writer, packer }: PageOutput,
  offsets: ChunkOffsets,
  dictionary: TextRanges | WrittenTexts,
): Promise<void> {
  const count = textsIn(dictionary);
  const bytes =
    'size' in dictionary ? dictionary.texts : [...textPages(dictionary, { count }, UNLIMITED)][0].bytes;
  const { length } = bytes;
  await packer.pack(bytes, compressed => {
    offsets.dictionaryAt = writer.offset;
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: length,
      compressed_page_size: compressed.length,
      dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
    });
    offsets.uncompressed += writer.offset - offsets.dictionaryAt + length;
    writer.appendBytes(compressed);
  });
}

interface DataPage {
  readonly slots: ValueSlots;
  /** Values that are not missing. */
  readonly values: number;
  readonly encoding: Encoding;
  readonly bytes: Uint8Array;
}

async function writePage(
  { writer, packer }: PageOutput,
  offsets: ChunkOffsets,
  { slots, values, encoding, bytes }: DataPage,
): Promise<void> {
  const { count } = slots;
  const { rows, definition, repetition } = encodedLevels(slots, values);
  const levelBytes = repetition.length + definition.length;
  const { length } = bytes;
  await packer.pack(bytes, compressed => {
    const start = writer.offset;
    offsets.dataAt ??= start;
    writePageHeader(writer, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levelBytes + length,
      compressed_page_size: levelBytes + compressed.length,
      data_page_header_v2: {
        num_values: count,
        num_nulls: count - values,
        num_rows: rows,
        encoding,
        definition_levels_byte_length: definition.length,
        repetition_levels_byte_length: repetition.length,
        is_compressed: length > 0,
      },
    });
    offsets.uncompressed += writer.offset - start + levelBytes + length;
    writer.appendBytes(repetition);
    writer.appendBytes(definition);
    writer.appendBytes(compressed);
  });
}

/** Bits of an index. */
export function indexWidth(dictionary: TextRanges | WrittenTexts): number {
  return 32 - Math.clz32(Math.max(0, textsIn(dictionary) - 1));
}

function textsIn(dictionary: TextRanges | WrittenTexts): number {
  return 'size' in dictionary ? dictionary.size : dictionary.starts.length;
}

/** Indexes of a dictionary begin with their width. */
function indexPage(indexes: Uint32Array, width: number): Uint8Array {
  return width === 0 ? run(0, indexes.length, width, [width]) : packed(indexes, width, [width]);
}

/** Changes in levels up to which runs are smaller than bits, by the number of levels. */
const MAX_CHANGES_SHARE = 1 / 24;

function encodedLevels(
  { count, definition, repetition, encoded }: ValueSlots,
  values: number,
): EncodedLevels {
  if (encoded !== undefined) return encoded;
  return {
    rows: repetition === undefined ? count : zerosOf(repetition),
    repetition: repetition === undefined ? NO_BYTES : packedFlags(repetition),
    definition: definition === undefined ? NO_BYTES : definitionLevels(definition, count - values),
  };
}

function definitionLevels(definition: Uint8Array, nulls: number): Uint8Array {
  const count = definition.length;
  if (nulls === 0 || nulls === count) return run(nulls === 0 ? 1 : 0, count, 1);
  const bits = packedFlags(definition);
  if (changesIn(bits) > count * MAX_CHANGES_SHARE) return bits;
  const writer = new ByteWriter();
  writeRleBitPackedHybrid(writer, definition, 1);
  return writer.getBytes();
}

/** Number of one bits of each byte value. */
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** How often neighboring bits differ. */
function changesIn(bits: Uint8Array): number {
  let changes = 0;
  let last = 0;
  for (let i = 0; i < bits.length; i++) {
    const byte = bits[i];
    changes += ONES[(byte ^ ((byte << 1) | last)) & 0xff];
    last = byte >>> 7;
  }
  return changes;
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
  { count, definition, repetition }: ValueSlots,
  pageBytes = PAGE_BYTES,
): Generator<ValueSlots & { readonly values: number; readonly bytes: Uint8Array }> {
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
      values: next - value,
      bytes,
    };
    slot = end;
    value = next;
  } while (slot < count);
}

type NumberValues = Exclude<ChunkValues, TextValues | { readonly type: 'BOOLEAN' }>;

/** Numbers are stored in little-endian order, as in the memory of every machine that Node.js runs on. */
function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function bitsOf(booleans: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(booleans.length / 8));
  for (let i = 0; i < booleans.length; i++) bits[i >> 3] |= booleans[i] << (i & 7);
  return bits;
}

function countOf(values: NumberValues): number {
  return values.type === 'INT64' ? values.words.length / 2 : values.numbers.length;
}

function numbersIn(values: NumberValues) {
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
  // Without an array for the two, which would be 150 bytes of garbage for each number.
  const high = words[a + 1] | 0;
  const other = words[b + 1] | 0;
  return high < other || (high === other && words[a] < words[b]);
}

function integerAt(words: Uint32Array, at: number): bigint {
  return (BigInt(words[at + 1] | 0) << 32n) | BigInt(words[at]);
}
