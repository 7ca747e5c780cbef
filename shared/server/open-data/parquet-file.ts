/**
 * Writes entries as a Parquet file for DuckDB, Athena and Spark. Its columns are time, level, line, labels
 * and metadata as maps, and the frequent fields of the lines as typed columns `field_...`. The time exists in
 * microseconds, a type that all of them support, and in nanoseconds as a number.
 */
import { LOGBOOM_VERSION } from '../admin/build-info.ts';
import { columnName, columnValues, type FieldColumn, fieldsOfLine, frequentFields } from './entry-fields.ts';
import { lineColumn, mapColumns, optionalColumn, type ParquetType, timeColumn } from './parquet/columns.ts';
import { parquetBytes, schema } from './parquet/file.ts';

export interface OpenEntry {
  readonly timeNs: bigint;
  /** Entries with equal labels may share one object, which costs little. */
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly line: string;
}

/** Format by which readers recognize writers. */
const CREATED_BY = `logboom version ${LOGBOOM_VERSION}`;

export function parquetFile(entries: readonly OpenEntry[]): Buffer {
  const fields = entries.map(({ line }) => fieldsOfLine(line));
  const columns = frequentFields(fields);
  const values = columnValues(fields, columns);
  return parquetBytes({
    rows: entries.length,
    schema: [
      schema.micros('timestamp'),
      schema.required('timestamp_ns', 'INT64'),
      schema.optional('level', 'BYTE_ARRAY'),
      schema.required('line', 'BYTE_ARRAY'),
      schema.map('labels'),
      schema.map('metadata'),
      ...columns.map(({ name, type }) => schema.optional(columnName(name), parquetType(type))),
    ],
    chunks: [
      ...['timestamp', 'timestamp_ns'].map((name, i) => times(name, entries, i === 0 ? 1000n : 1n)),
      optionalColumn('level', 'BYTE_ARRAY', entries.map(levelOf)),
      lineColumn(
        'line',
        entries.map(({ line }) => line.toWellFormed()),
      ),
      ...mapColumns(
        'labels',
        entries.map(({ labels }) => labels),
      ),
      ...mapColumns(
        'metadata',
        entries.map(({ metadata }) => metadata),
      ),
      ...columns.map(({ name, type }, i) => optionalColumn(columnName(name), parquetType(type), values[i])),
    ],
    createdBy: CREATED_BY,
  });
}

function times(name: string, entries: readonly OpenEntry[], unitNs: bigint) {
  const first = (entries[0]?.timeNs ?? 0n) / unitNs;
  return timeColumn(
    name,
    first,
    Float64Array.from(entries, ({ timeNs }) => Number(timeNs / unitNs - first)),
  );
}

function parquetType(type: FieldColumn['type']): ParquetType {
  return type === 'STRING' ? 'BYTE_ARRAY' : type;
}

function levelOf({ labels, metadata }: OpenEntry): string | null {
  return metadata.detected_level ?? labels.level ?? metadata.level ?? null;
}
