/**
 * The two tables of Parquet responses (docs/dev/wire-format.md#parquet). Clients rely on names, types and order.
 * Logboom may choose encodings and compression, because every page names its own. `converted_type` repeats
 * the logical type for readers from before 2018, and the writer recognizes maps and strings only by it.
 * Nanoseconds have none.
 */
import type { ColumnSource, SchemaElement } from 'hyparquet-writer';
import { mapElements, textElement } from '../open-data/parquet-elements.ts';

export type ColumnOptions = Omit<ColumnSource, 'data'>;

export interface ParquetTable {
  /** Tree in depth-first order. */
  readonly schema: readonly SchemaElement[];
  readonly columns: readonly ColumnOptions[];
}

const LABELS: readonly SchemaElement[] = mapElements('labels');

/**
 * The writer uses a dictionary if it saves space. Statistics over names and values together would not help
 * readers.
 */
const LABELS_COLUMN: ColumnOptions = { name: 'labels', codec: 'UNCOMPRESSED', statistics: false };

/** Deltas: 2 or 3 bytes per timestamp instead of 8. */
const TIMESTAMP_COLUMN: ColumnOptions = {
  name: 'timestamp',
  codec: 'UNCOMPRESSED',
  encoding: 'DELTA_BINARY_PACKED',
};

export const STREAM_TABLE: ParquetTable = {
  schema: [
    { name: 'streams', num_children: 3 },
    {
      name: 'timestamp',
      type: 'INT64',
      repetition_type: 'REQUIRED',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' },
    },
    ...LABELS,
    textElement('line', 'REQUIRED'),
  ],
  columns: [
    TIMESTAMP_COLUMN,
    LABELS_COLUMN,
    // Snappy, the only compression that every reader supports.
    { name: 'line', codec: 'SNAPPY', encoding: 'DELTA_LENGTH_BYTE_ARRAY', statistics: false },
  ],
};

export const METRIC_TABLE: ParquetTable = {
  schema: [
    { name: 'metrics', num_children: 3 },
    {
      name: 'timestamp',
      type: 'INT64',
      repetition_type: 'REQUIRED',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    ...LABELS,
    { name: 'value', type: 'DOUBLE', repetition_type: 'REQUIRED' },
  ],
  columns: [TIMESTAMP_COLUMN, LABELS_COLUMN, { name: 'value', codec: 'UNCOMPRESSED', encoding: 'PLAIN' }],
};
