/**
 * Writes entries as a Parquet file for DuckDB, Athena and Spark. Its columns are time, level, line, labels
 * and metadata as maps, and the frequent fields of the lines as typed columns `field_...`. The time exists in
 * microseconds, a type that all of them support, and in nanoseconds as a number.
 */
import type { ColumnChunk, RowGroup, SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type TextRanges, textColumnsOfThread } from '../../base/kernels/text-columns.ts';
import { lazily } from '../../base/model/lazily.ts';
import { LOGBOOM_VERSION } from '../admin/build-info.ts';
import type { EntryLabels } from './entry-columns.ts';
import { fieldColumns, type ParquetField } from './entry-fields.ts';
import { type EntryTable, ROW_GROUP_ROWS } from './entry-table.ts';
import { FieldFinder } from './field-finder.ts';
import { PackedLists, run } from './packed-bits.ts';
import { PagePacker } from './page-packer.ts';
import { type Chunk, indexWidth, type ValueSlots, writeColumnChunk } from './parquet-chunk.ts';
import { mapElements, textElement } from './parquet-elements.ts';
import { scratch } from './scratch.ts';
import { rangesOf, type TextValues } from './text-values.ts';

interface OpenColumn {
  readonly elements: readonly SchemaElement[];
  /** Chunks of the rows of a group, in the order of the elements. */
  readonly chunks: (from: number, to: number) => readonly Chunk[];
}

/** Format by which readers recognize writers. */
const CREATED_BY = `logboom version ${LOGBOOM_VERSION}`;

/** Memory of a file, which the next one uses again: new buffers would keep the garbage collector busy. */
export class FileMemory {
  readonly finder: FieldFinder;
  readonly writer = new ByteWriter();

  /** @param finder may be that of another file that is complete */
  constructor(finder = new FieldFinder()) {
    this.finder = finder;
  }
}

/**
 * Contents of a file. There must be at least one entry: arrow-rs cannot read a file without row groups. Texts are added to the
 * table.
 *
 * Pitfall: a thread makes one file at a time, because files share the memory of kernels.
 * @param memory the contents are valid until the next call with it
 */
export async function parquetFile(table: EntryTable, memory = new FileMemory()): Promise<Uint8Array> {
  return (await buildParquetFile(table, memory)).contents;
}

/** A file whose last pages are being compressed. */
interface BuiltFile {
  readonly contents: Promise<Uint8Array>;
}

/** The same, but resolves when the rows are no longer needed. */
export async function buildParquetFile(table: EntryTable, memory: FileMemory): Promise<BuiltFile> {
  const { finder, writer } = memory;
  const { count } = table;
  writer.offset = 0;
  writer.index = 0;
  writer.ensure(table.lineBytes >> 1);
  const columns = columnsOf(table, finder);
  const texts = textColumnsOfThread();
  texts.share(table.bytes, table.byteLength);
  const elements = columns.flatMap(column => column.elements);
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'entries', num_children: columns.length }, ...elements],
    codec: 'ZSTD',
    createdBy: CREATED_BY,
  });
  const packer = new PagePacker();
  try {
    for (let from = 0; from < count; from += ROW_GROUP_ROWS) {
      const to = Math.min(from + ROW_GROUP_ROWS, count);
      const written: ColumnChunk[] = [];
      for (const column of columns)
        for (const chunk of column.chunks(from, to))
          await writeColumnChunk({ writer, packer }, chunk, of => written.push(of));
      packer.inOrder(() => file.row_groups.push(rowGroup(written, to - from)));
    }
  } finally {
    texts.unshare();
  }
  const contents = packer.end().then(() => {
    file.num_rows = BigInt(count);
    file.finish();
    return writer.getBytes();
  });
  // Thrown to the caller that awaits it later.
  contents.catch(() => undefined);
  return { contents };
}

function rowGroup(columns: ColumnChunk[], rows: number): RowGroup {
  const sumOf = (key: 'total_uncompressed_size' | 'total_compressed_size') =>
    columns.reduce((sum, { meta_data: data }) => sum + data![key], 0n);
  return {
    columns,
    num_rows: BigInt(rows),
    total_byte_size: sumOf('total_uncompressed_size'),
    total_compressed_size: sumOf('total_compressed_size'),
  };
}

function columnsOf(table: EntryTable, finder: FieldFinder): OpenColumn[] {
  // Added first, because the texts of fields may move the bytes.
  const fields = fieldColumns(table, finder);
  return [
    timeColumn(
      table,
      {
        name: 'timestamp',
        converted_type: 'TIMESTAMP_MICROS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      },
      NS_PER_MICRO,
    ),
    timeColumn(table, { name: 'timestamp_ns' }, 1),
    levelColumn(table),
    lineColumn(table),
    mapColumn(table, 'labels', ({ labels }) => labels),
    mapColumn(table, 'metadata', ({ metadata }) => metadata),
    ...fields.map(fieldColumn),
  ];
}

const NS_PER_MICRO = 1000;
const WORD = 2 ** 32;

/** @param unit nanoseconds; a divisor of those of a day */
function timeColumn(table: EntryTable, element: SchemaElement, unit: number): OpenColumn {
  return {
    elements: [{ ...element, type: 'INT64', repetition_type: 'REQUIRED' }],
    chunks(from, to) {
      const words = scratch('words', Uint32Array, 2 * (to - from));
      for (const [i, { startNs, firstRow }] of table.days.entries()) {
        const first = Math.max(from, firstRow);
        const end = Math.min(to, table.days[i + 1]?.firstRow ?? table.count);
        if (first >= end) continue;
        const own = words.subarray(2 * (first - from), 2 * (end - from));
        const start = startNs / BigInt(unit);
        const [low, high] = [Number(start & 0xffff_ffffn), Number(start >> 32n)];
        writeTimes(own, table.times.subarray(first, end), unit, low, high);
      }
      return [{ path: [element.name], slots: { count: to - from }, values: { type: 'INT64', words } }];
    },
  };
}

/**
 * Adds times to the start of their day, which is in two words. A separate function, because V8 compiles the loop badly in one that also has
 * BigInts and iterators.
 */
function writeTimes(words: Uint32Array, times: Float64Array, unit: number, low: number, high: number): void {
  for (let i = 0; i < times.length; i++) {
    const time = Math.floor(times[i] / unit);
    const timeHigh = Math.floor(time / WORD);
    const sum = low + (time - timeHigh * WORD);
    words[2 * i] = sum;
    words[2 * i + 1] = high + timeHigh + (sum >= WORD ? 1 : 0);
  }
}

function levelColumn(table: EntryTable): OpenColumn {
  return {
    elements: [textElement('level', 'OPTIONAL')],
    chunks(from, to) {
      const levels = new Dictionary();
      const numbers = Int32Array.from(table.labelSets, set => {
        const level = levelOf(set);
        return level === undefined ? -1 : levels.indexOf(level);
      });
      const definition = scratch('definition', Uint8Array, to - from).fill(0);
      const indexes = scratch('indexes', Uint32Array, to - from);
      const count = writeIndexes(indexes, definition, table.labels.subarray(from, to), numbers);
      const own = indexes.subarray(0, count);
      const values: TextValues = levels.repeats(count)
        ? { type: 'BYTE_ARRAY', dictionary: levels.ranges(), indexes: own }
        : levels.plain(own);
      return [{ path: ['level'], slots: { count: to - from, definition }, values }];
    },
  };
}

/** Writes the number of each label set, unless it is negative. Returns how many were written. Separate, as `writeTimes`. */
function writeIndexes(
  indexes: Uint32Array,
  definition: Uint8Array,
  labels: Uint32Array,
  numbers: Int32Array,
): number {
  let count = 0;
  for (let row = 0; row < labels.length; row++) {
    const number = numbers[labels[row]];
    if (number < 0) continue;
    definition[row] = 1;
    indexes[count++] = number;
  }
  return count;
}

function levelOf({ labels, metadata }: EntryLabels): string | undefined {
  return metadata.detected_level ?? labels.level ?? metadata.level;
}

function lineColumn({ offsets, bytes }: EntryTable): OpenColumn {
  return {
    elements: [textElement('line', 'REQUIRED')],
    chunks(from, to) {
      const ends = scratch('ends', Uint32Array, to - from);
      // The line feed after each line is not part of it.
      for (let row = from; row < to; row++) ends[row - from] = offsets[row + 1] - 1;
      const texts = { bytes, starts: offsets.subarray(from, to), ends };
      return [{ path: ['line'], slots: { count: to - from }, values: { type: 'BYTE_ARRAY', texts } }];
    },
  };
}

function fieldColumn(column: ParquetField): OpenColumn {
  const { name, type } = column;
  return {
    elements: [
      type === 'STRING' ? textElement(name, 'OPTIONAL') : { name, type, repetition_type: 'OPTIONAL' },
    ],
    chunks: (from, to) => [{ path: [name], ...column.chunk(from, to) }],
  };
}

/** Distinct texts of a column. */
class Dictionary {
  readonly #indexes = new Map<string, number>();

  indexOf(text: string): number {
    let index = this.#indexes.get(text);
    if (index === undefined) {
      index = this.#indexes.size;
      this.#indexes.set(text, index);
    }
    return index;
  }

  /** Whether the texts repeat at least once on average in a column of `count` values. */
  repeats(count: number): boolean {
    const { size } = this.#indexes;
    return size > 0 && size * 2 <= count;
  }

  ranges(): TextRanges {
    return rangesOf([...this.#indexes.keys()]);
  }

  /** The texts of these indexes, one by one. */
  plain(indexes: ArrayLike<number>): TextValues {
    const dictionary = [...this.#indexes.keys()];
    return { type: 'BYTE_ARRAY', texts: rangesOf(Array.from(indexes, index => dictionary[index])) };
  }
}

type TextMap = Readonly<Record<string, string>>;

/** Pairs of a map, by their indexes in the dictionaries. */
interface IndexedPairs {
  readonly keys: readonly number[];
  readonly values: readonly number[];
}

const NO_PAIRS: IndexedPairs = { keys: [], values: [] };

/** Maps of the rows of a group. Rows with one label set share a map. */
interface GroupMaps {
  /** Map of each row. */
  readonly maps: Uint32Array;
  /** Pairs of each map; undefined if no row has the map. */
  readonly pairsOf: readonly (IndexedPairs | undefined)[];
  readonly keys: Dictionary;
  readonly values: Dictionary;
  /** Pairs of all rows. */
  readonly pairs: number;
  /** Rows with an empty map. */
  readonly empty: number;
}

function mapColumn(table: EntryTable, name: string, mapOf: (set: EntryLabels) => TextMap): OpenColumn {
  return {
    elements: mapElements(name),
    chunks(from, to) {
      const group = groupMaps(table, from, to, mapOf);
      const { keys, values, pairs } = group;
      const slots = mapSlots(group);
      const column = (part: 'key' | 'value', dictionary: Dictionary): Chunk => ({
        path: [name, 'key_value', part],
        ...(dictionary.repeats(pairs)
          ? { slots: slots.encoded(), values: indexedValues(group, `${part}s`, dictionary) }
          : { slots: slots.plain(), values: plainValues(group, `${part}s`, dictionary) }),
      });
      return [column('key', keys), column('value', values)];
    },
  };
}

function groupMaps(
  { labels, labelSets }: EntryTable,
  from: number,
  to: number,
  mapOf: (set: EntryLabels) => TextMap,
): GroupMaps {
  const [keys, values] = [new Dictionary(), new Dictionary()];
  const pairsOf: (IndexedPairs | undefined)[] = Array.from({ length: labelSets.length });
  const lengths = scratch('lengths', Uint32Array, labelSets.length);
  let pairs = 0;
  let empty = 0;
  for (let row = from; row < to; row++) {
    const set = labels[row];
    if (pairsOf[set] === undefined) {
      const map = mapOf(labelSets[set]);
      pairsOf[set] = {
        keys: Object.keys(map).map(key => keys.indexOf(key)),
        values: Object.values(map).map(value => values.indexOf(value)),
      };
      lengths[set] = pairsOf[set].keys.length;
    }
    pairs += lengths[set];
    if (lengths[set] === 0) empty++;
  }
  return { maps: labels.subarray(from, to), pairsOf, keys, values, pairs, empty };
}

/** An empty map has a slot without a value. */
function mapSlots(group: GroupMaps): {
  readonly encoded: () => ValueSlots;
  readonly plain: () => ValueSlots;
} {
  const { maps, pairsOf, pairs, empty } = group;
  const count = pairs + empty;
  return {
    encoded: lazily(() => {
      const [definition, repetition] = [new PackedLists(1), new PackedLists(1)];
      for (const { keys } of orEmpty(pairsOf)) {
        definition.add(keys.length === 0 ? [0] : keys.map(() => 1));
        repetition.add(keys.length === 0 ? [0] : keys.map((_, i) => (i === 0 ? 0 : 1)));
      }
      const isMixed = empty > 0 && pairs > 0;
      return {
        count,
        encoded: {
          rows: maps.length,
          definition: isMixed ? definition.pack(maps, count) : run(pairs > 0 ? 1 : 0, count, 1),
          repetition: pairs > 0 ? repetition.pack(maps, count) : run(0, count, 1),
        },
      };
    }),
    plain: lazily(() => {
      const definition = scratch('definition', Uint8Array, count).fill(1);
      const repetition = scratch('repetition', Uint8Array, count).fill(1);
      let slot = 0;
      for (let row = 0; row < maps.length; row++) {
        const { length } = pairsOf[maps[row]]!.keys;
        repetition[slot] = 0;
        if (length === 0) definition[slot] = 0;
        slot += Math.max(1, length);
      }
      return { count, definition, repetition };
    }),
  };
}

function orEmpty(pairsOf: GroupMaps['pairsOf']): readonly IndexedPairs[] {
  return pairsOf.map(pairs => pairs ?? NO_PAIRS);
}

function indexedValues(
  { maps, pairsOf, pairs }: GroupMaps,
  part: keyof IndexedPairs,
  texts: Dictionary,
): TextValues {
  const dictionary = texts.ranges();
  const width = indexWidth(dictionary);
  const lists = new PackedLists(width);
  for (const each of orEmpty(pairsOf)) lists.add(each[part]);
  return { type: 'BYTE_ARRAY', dictionary, indexPage: lists.pack(maps, pairs, [width]), count: pairs };
}

function plainValues({ maps, pairsOf }: GroupMaps, part: keyof IndexedPairs, texts: Dictionary): TextValues {
  const indexes: number[] = [];
  for (let row = 0; row < maps.length; row++) indexes.push(...pairsOf[maps[row]]![part]);
  return texts.plain(indexes);
}
