/**
 * Writes entries as a Parquet file for DuckDB, Athena and Spark. Its columns are time, level, line, labels
 * and metadata as maps, and the frequent fields of the lines as typed columns `field_...`. The time exists in
 * microseconds, a type that all of them support, and in nanoseconds as a number.
 */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { LOGBOOM_VERSION } from '../admin/build-info.ts';
import { columnName, FieldCollector, type FieldColumn } from './entry-fields.ts';
import { type ChunkValues, type Slots, writeChunk } from './parquet-chunk.ts';
import { mapElements, textElement } from './parquet-elements.ts';

export interface OpenEntry {
  readonly timeNs: bigint;
  /** Entries with equal labels may share one object, which costs little. */
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly line: string;
}

interface OpenColumn {
  readonly elements: readonly SchemaElement[];
  /** Chunks of the rows of a group, in the order of the elements. */
  readonly chunks: (from: number, to: number) => readonly Chunk[];
}

type Chunk = Parameters<typeof writeChunk>[1];

/** Format by which readers recognize writers. */
const CREATED_BY = `logboom version ${LOGBOOM_VERSION}`;
/** Readers skip row groups and read them in parallel. */
const ROW_GROUP_ROWS = 65_536;

/** Contents of a file. There must be at least one entry: arrow-rs cannot read a file without row groups. */
export function parquetFile(entries: readonly OpenEntry[]): Uint8Array {
  const columns = columnsOf(entries);
  const elements = columns.flatMap(column => column.elements);
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'entries', num_children: columns.length }, ...elements],
    codec: 'ZSTD',
    createdBy: CREATED_BY,
  });
  for (let from = 0; from < entries.length; from += ROW_GROUP_ROWS) {
    const to = Math.min(from + ROW_GROUP_ROWS, entries.length);
    const start = writer.offset;
    const chunks = columns.flatMap(column => column.chunks(from, to).map(chunk => writeChunk(writer, chunk)));
    file.row_groups.push({
      columns: chunks,
      num_rows: BigInt(to - from),
      total_byte_size: chunks.reduce(
        (sum, { meta_data: data }) => sum + (data?.total_uncompressed_size ?? 0n),
        0n,
      ),
      total_compressed_size: BigInt(writer.offset - start),
    });
  }
  file.num_rows = BigInt(entries.length);
  file.finish();
  return writer.getBytes();
}

function columnsOf(entries: readonly OpenEntry[]): OpenColumn[] {
  const fields = new FieldCollector();
  for (const { line } of entries) fields.add(line);
  return [
    timeColumn(
      {
        name: 'timestamp',
        converted_type: 'TIMESTAMP_MICROS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      },
      row => entries[row].timeNs / NS_PER_MICRO,
    ),
    timeColumn({ name: 'timestamp_ns' }, row => entries[row].timeNs),
    levelColumn(entries),
    {
      elements: [textElement('line', 'REQUIRED')],
      chunks: (from, to) => [
        {
          path: ['line'],
          slots: { count: to - from },
          values: { type: 'BYTE_ARRAY', texts: entries.slice(from, to).map(({ line }) => line) },
        },
      ],
    },
    mapColumn('labels', row => entries[row].labels),
    mapColumn('metadata', row => entries[row].metadata),
    ...fields.frequent().map(fieldColumn),
  ];
}

const NS_PER_MICRO = 1000n;

function timeColumn(element: SchemaElement, timeOf: (row: number) => bigint): OpenColumn {
  return {
    elements: [{ ...element, type: 'INT64', repetition_type: 'REQUIRED' }],
    chunks(from, to) {
      const numbers = new BigInt64Array(to - from);
      for (let row = from; row < to; row++) numbers[row - from] = timeOf(row);
      return [{ path: [element.name], slots: { count: to - from }, values: { type: 'INT64', numbers } }];
    },
  };
}

function levelColumn(entries: readonly OpenEntry[]): OpenColumn {
  const rows: number[] = [];
  const values: string[] = [];
  for (const [row, entry] of entries.entries()) {
    const level = levelOf(entry);
    if (level === undefined) continue;
    rows.push(row);
    values.push(level);
  }
  return optionalColumn('level', { rows, type: 'STRING', values });
}

function levelOf({ labels, metadata }: OpenEntry): string | undefined {
  return metadata.detected_level ?? labels.level ?? metadata.level;
}

function fieldColumn(column: FieldColumn): OpenColumn {
  return optionalColumn(columnName(column.name), column);
}

type OptionalValues = DistributiveOmit<FieldColumn, 'name'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function optionalColumn(name: string, column: OptionalValues): OpenColumn {
  const { rows, type } = column;
  const element: SchemaElement =
    type === 'STRING' ? textElement(name, 'OPTIONAL') : { name, type, repetition_type: 'OPTIONAL' };
  let next = 0;
  return {
    elements: [element],
    // Row groups are written in order.
    chunks(from, to) {
      const first = next;
      const definition = new Uint8Array(to - from);
      while (next < rows.length && rows[next] < to) definition[rows[next++] - from] = 1;
      const slots: Slots = { count: to - from, definition };
      return [{ path: [name], slots, values: chunkValues(column, first, next) }];
    },
  };
}

function chunkValues(column: OptionalValues, from: number, to: number): ChunkValues {
  switch (column.type) {
    case 'INT64':
      return { type: 'INT64', numbers: BigInt64Array.from(column.values.slice(from, to)) };
    case 'DOUBLE':
      return { type: 'DOUBLE', numbers: Float64Array.from(column.values.slice(from, to)) };
    case 'BOOLEAN':
      return { type: 'BOOLEAN', booleans: column.values.slice(from, to) };
    case 'STRING':
      return textValues(column.values.slice(from, to));
  }
}

/** Number of values, spread over all, that decide whether a column repeats its values. */
const SAMPLED = 1000;

function textValues(texts: readonly string[]): ChunkValues {
  const step = Math.ceil(texts.length / SAMPLED);
  const sample = texts.filter((_, i) => i % step === 0);
  if (new Set(sample).size * 2 > sample.length) return { type: 'BYTE_ARRAY', texts };
  const dictionary = new Dictionary();
  const indexes = new Uint32Array(texts.length);
  for (const [i, text] of texts.entries()) indexes[i] = dictionary.indexOf(text);
  return dictionary.values(indexes);
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

  /** Without the dictionary if the column hardly repeats its values. */
  values(indexes: Uint32Array): ChunkValues {
    const dictionary = [...this.#indexes.keys()];
    if (dictionary.length > 0 && dictionary.length * 2 <= indexes.length)
      return { type: 'BYTE_ARRAY', dictionary, indexes };
    return { type: 'BYTE_ARRAY', texts: Array.from(indexes, index => dictionary[index]) };
  }
}

/** Pairs of a map, by their indexes in the dictionaries. */
interface IndexedPairs {
  readonly keys: readonly number[];
  readonly values: readonly number[];
}

/** Rows that share an object share its pairs. */
function mapColumn(name: string, mapOf: (row: number) => Readonly<Record<string, string>>): OpenColumn {
  return {
    elements: mapElements(name),
    chunks(from, to) {
      const [keys, values] = [new Dictionary(), new Dictionary()];
      const shared = new Map<object, IndexedPairs>();
      const rows: IndexedPairs[] = [];
      let count = 0;
      let pairs = 0;
      for (let row = from; row < to; row++) {
        const map = mapOf(row);
        let known = shared.get(map);
        if (known === undefined) {
          known = {
            keys: Object.keys(map).map(key => keys.indexOf(key)),
            values: Object.values(map).map(value => values.indexOf(value)),
          };
          shared.set(map, known);
        }
        rows.push(known);
        count += Math.max(1, known.keys.length);
        pairs += known.keys.length;
      }
      const definition = new Uint8Array(count).fill(1);
      const repetition = new Uint8Array(count).fill(1);
      const keyIndexes = new Uint32Array(pairs);
      const valueIndexes = new Uint32Array(pairs);
      let slot = 0;
      let pair = 0;
      for (const row of rows) {
        const { length } = row.keys;
        repetition[slot] = 0;
        if (length === 0) definition[slot] = 0;
        for (let i = 0; i < length; i++, pair++) {
          keyIndexes[pair] = row.keys[i];
          valueIndexes[pair] = row.values[i];
        }
        slot += Math.max(1, length);
      }
      const slots: Slots = { count, definition, repetition };
      return [
        { path: [name, 'key_value', 'key'], slots, values: keys.values(keyIndexes) },
        { path: [name, 'key_value', 'value'], slots, values: values.values(valueIndexes) },
      ];
    },
  };
}
