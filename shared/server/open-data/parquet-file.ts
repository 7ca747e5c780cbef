/**
 * Writes entries as a Parquet file for DuckDB, Athena and Spark. Its columns are time, level, line, labels
 * and metadata as maps, and the frequent fields of the lines as typed columns `field_...`. The time exists in
 * microseconds, a type that all of them support, and in nanoseconds as a number.
 */
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, type ColumnSource, parquetWrite, type SchemaElement } from 'hyparquet-writer';
import { LOGBOOM_VERSION } from '../admin/build-info.ts';
import {
  type ColumnValue,
  columnName,
  columnValues,
  type FieldColumn,
  fieldsOfLine,
  frequentFields,
} from './entry-fields.ts';
import { mapElements, textElement } from './parquet-elements.ts';

export interface OpenEntry {
  readonly timeNs: bigint;
  /** Entries with equal labels may share one object, which costs little. */
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly line: string;
}

/** A column with its elements of the schema. */
interface OpenColumn {
  readonly elements: readonly SchemaElement[];
  readonly source: ColumnSource;
}

/** Format by which readers recognize writers. */
const CREATED_BY = `logboom version ${LOGBOOM_VERSION}`;
/** Readers skip row groups and read them in parallel. The writer holds the levels and values of one column of a group. */
const ROW_GROUP_ROWS = 65_536;

/** Contents of a file. There must be at least one entry: arrow-rs cannot read a file without row groups. */
export function parquetFile(entries: readonly OpenEntry[]): Uint8Array {
  const columns = columnsOf(entries);
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    schema: [
      { name: 'entries', num_children: columns.length },
      ...columns.flatMap(({ elements }) => elements),
    ],
    columnData: columns.map(({ source }) => source),
    codec: 'ZSTD',
    compressors: { ZSTD: bytes => zstdCompressSync(bytes) },
    rowGroupSize: ROW_GROUP_ROWS,
    createdBy: CREATED_BY,
  });
  return writer.getBytes();
}

function columnsOf(entries: readonly OpenEntry[]): OpenColumn[] {
  const fields = entries.map(({ line }) => fieldsOfLine(line));
  const columns = frequentFields(fields);
  const values = columnValues(fields, columns);
  const lines = entries.map(({ line }) => line.toWellFormed());
  return [
    timeColumn(
      {
        name: 'timestamp',
        converted_type: 'TIMESTAMP_MICROS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      },
      entries.map(({ timeNs }) => timeNs / NS_PER_MICRO),
    ),
    timeColumn(
      { name: 'timestamp_ns' },
      entries.map(({ timeNs }) => timeNs),
    ),
    textColumn(textElement('level', 'OPTIONAL'), entries.map(levelOf)),
    textColumn(textElement('line', 'REQUIRED'), lines),
    mapColumn(
      'labels',
      entries.map(({ labels }) => labels),
    ),
    mapColumn(
      'metadata',
      entries.map(({ metadata }) => metadata),
    ),
    ...columns.map((column, i) => fieldColumn(column, values[i])),
  ];
}

const NS_PER_MICRO = 1000n;

/** Statistics, by which readers skip files, and deltas: 2 or 3 bytes per time instead of 8. */
function timeColumn(element: SchemaElement, data: bigint[]): OpenColumn {
  const { name } = element;
  return {
    elements: [{ ...element, type: 'INT64', repetition_type: 'REQUIRED' }],
    source: { name, data, encoding: 'DELTA_BINARY_PACKED' },
  };
}

/** No statistics: entries are ordered by time, so each row group has the whole range of texts. */
function textColumn(element: SchemaElement, data: (string | null)[]): OpenColumn {
  return { elements: [element], source: { name: element.name, data, statistics: false } };
}

/** The writer wants pairs. Rows that share an object share its pairs. */
function mapColumn(name: string, data: readonly Readonly<Record<string, string>>[]): OpenColumn {
  const shared = new Map<object, readonly Pair[]>();
  const pairsOf = (values: Readonly<Record<string, string>>): readonly Pair[] => {
    let pairs = shared.get(values);
    if (pairs === undefined) {
      pairs = Object.entries(values).map(([key, value]) => ({ key, value }));
      shared.set(values, pairs);
    }
    return pairs;
  };
  return {
    elements: mapElements(name),
    source: { name, data: data.map(pairsOf), statistics: false },
  };
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

function fieldColumn({ name: field, type }: FieldColumn, data: readonly ColumnValue[]): OpenColumn {
  const name = columnName(field);
  if (type === 'STRING') return textColumn(textElement(name, 'OPTIONAL'), data as (string | null)[]);
  return { elements: [{ name, type, repetition_type: 'OPTIONAL' }], source: { name, data: [...data] } };
}

function levelOf({ labels, metadata }: OpenEntry): string | null {
  return metadata.detected_level ?? labels.level ?? metadata.level ?? null;
}
