/**
 * Entries as a Parquet file that DuckDB, Athena and Spark read: time, level, line, labels and metadata as maps, and the frequent fields
 * of the lines as typed columns `field_...`. The time is there in microseconds, which all of them have as a type, and in nanoseconds as a
 * number.
 */
import { ByteWriter, parquetWriteRows, type SchemaElement } from 'hyparquet-writer';
import { LOGBOOM_VERSION } from '../../../shared/server/admin/build-info.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import { columnName, columnValue, type FieldColumn, fieldsOfLine, frequentFields } from './entry-fields.ts';

/** Readers skip and read in parallel by row groups. */
const ROW_GROUP_ROWS = 16_384;

export async function parquetFile(entries: readonly MigratedEntry[]): Promise<Uint8Array> {
  const fields = entries.map(({ line }) => fieldsOfLine(line));
  const columns = frequentFields(fields);
  const rows = entries.map((entry, i) => ({
    timestamp: entry.timeNs / 1000n,
    timestamp_ns: entry.timeNs,
    level: levelOf(entry),
    line: entry.line,
    labels: pairsOf(entry.labels),
    metadata: pairsOf(entry.metadata),
    ...Object.fromEntries(columns.map(column => [columnName(column.name), columnValue(fields[i], column)])),
  }));
  const writer = new ByteWriter();
  await parquetWriteRows({
    writer,
    rows,
    schema: schemaOf(columns),
    columns: [
      ...['timestamp', 'timestamp_ns'].map(name => ({ name, encoding: 'DELTA_BINARY_PACKED' as const })),
      ...['level', 'line', 'labels', 'metadata', ...columns.map(({ name }) => columnName(name))].map(
        name => ({ name }),
      ),
    ].map(column => ({ ...column, codec: 'SNAPPY' as const })),
    rowGroupSize: ROW_GROUP_ROWS,
    createdBy: `logboom version ${LOGBOOM_VERSION}`,
  });
  return writer.getBytes();
}

function schemaOf(columns: readonly FieldColumn[]): SchemaElement[] {
  return [
    { name: 'entries', num_children: 6 + columns.length },
    {
      name: 'timestamp',
      type: 'INT64',
      repetition_type: 'REQUIRED',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    { name: 'timestamp_ns', type: 'INT64', repetition_type: 'REQUIRED' },
    text('level', 'OPTIONAL'),
    text('line', 'REQUIRED'),
    ...map('labels'),
    ...map('metadata'),
    ...columns.map(column =>
      column.type === 'STRING'
        ? text(columnName(column.name), 'OPTIONAL')
        : { name: columnName(column.name), type: column.type, repetition_type: 'OPTIONAL' as const },
    ),
  ];
}

function text(name: string, repetition: 'REQUIRED' | 'OPTIONAL'): SchemaElement {
  return {
    name,
    type: 'BYTE_ARRAY',
    repetition_type: repetition,
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
  };
}

function map(name: string): SchemaElement[] {
  return [
    {
      name,
      repetition_type: 'REQUIRED',
      num_children: 1,
      converted_type: 'MAP',
      logical_type: { type: 'MAP' },
    },
    { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
    text('key', 'REQUIRED'),
    text('value', 'REQUIRED'),
  ];
}

function levelOf({ labels, metadata }: MigratedEntry): string | null {
  return metadata.detected_level ?? labels.level ?? metadata.level ?? null;
}

function pairsOf(values: Readonly<Record<string, string>>): { key: string; value: string }[] {
  return Object.entries(values).map(([key, value]) => ({ key, value }));
}
