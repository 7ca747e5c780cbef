/**
 * Query results as Parquet files (docs/dev/wire-format.md#parquet): one row per entry or sample, series by series
 * in the order of the result. Warnings, statistics and categories have no column. The file is built in
 * memory, like the result that it contains. Rows are converted to columns one row group at a time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteWriter, parquetWriteRows } from 'hyparquet-writer';
import type { Labels } from '../../base/model/labels.ts';
import { lazily } from '../../base/model/lazily.ts';
import type { MetricResult } from '../../execution/metrics/result.ts';
import type { QueryAnswer } from '../../read/query/engine.ts';
import type { LogStream } from '../../read/query/log-query.ts';
import { LOGBOOM_VERSION } from '../admin/build-info.ts';
import { type ColumnOptions, METRIC_TABLE, type ParquetTable, STREAM_TABLE } from './parquet-tables.ts';

/** Rows that are converted at a time: about 50 ms of work, after which other requests can run. */
export const RESULT_ROW_GROUP_ROWS = 16_384;

/** Format by which readers recognize writers, to work around known defects. */
const CREATED_BY = `logboom version ${LOGBOOM_VERSION}`;

/** A label with the column names below `key_value`, as the writer needs it. */
interface KeyValue {
  readonly key: string;
  readonly value: string;
}

interface StreamRow {
  readonly timestamp: bigint;
  readonly labels: readonly KeyValue[];
  readonly line: string;
}

interface MetricRow {
  readonly timestamp: number;
  readonly labels: readonly KeyValue[];
  readonly value: number;
}

/** Bytes of a Parquet file. Rejects with the reason of the signal when it aborts. */
export async function encodeParquet(
  { result }: Pick<QueryAnswer, 'result'>,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  return result.kind === 'streams'
    ? writeFile(streamRows(result.streams), STREAM_TABLE, signal)
    : writeFile(metricRows(result), METRIC_TABLE, signal);
}

async function writeFile(
  rows: Iterable<StreamRow | MetricRow>,
  { schema, columns }: ParquetTable,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const Writer = yieldingWriter();
  const writer = new Writer(signal);
  await parquetWriteRows({
    writer,
    rows: rows as Iterable<Record<string, unknown>>,
    schema: [...schema],
    columns: columns.map((column): ColumnOptions => ({ ...column })),
    rowGroupSize: RESULT_ROW_GROUP_ROWS,
    createdBy: CREATED_BY,
  });
  const file = writer.getBytes();
  if (writer.rowGroups === 0) typeEmptyList(file);
  return file;
}

/**
 * Footer of a file without rows: a count of 0, the list of row groups, and field 6, the writer. The library
 * writes element type 0 for an empty list, but arrow-rs accepts only a list of structs.
 */
const EMPTY_FOOTER_PART = Buffer.from([0x16, 0x00, 0x19, 0x00, 0x28]);
const TYPE_AT = 3;
const STRUCT_TYPE = 0x0c;

function typeEmptyList(file: Uint8Array): void {
  const at = Buffer.from(file.buffer, file.byteOffset, file.length).indexOf(EMPTY_FOOTER_PART);
  if (at >= 0) file[at + TYPE_AT] = STRUCT_TYPE;
}

/**
 * A writer class that yields after each row group, and stops if the client has disconnected. Created on first
 * use, so that a start without Parquet responses does not load the library.
 */
const yieldingWriter = lazily(
  () =>
    class extends ByteWriter {
      rowGroups = 0;
      readonly #signal: AbortSignal | undefined;

      constructor(signal: AbortSignal | undefined) {
        super();
        this.#signal = signal;
      }

      async flush(): Promise<void> {
        this.rowGroups++;
        await nextTurn();
        this.#signal?.throwIfAborted();
      }
    },
);

function* streamRows(streams: readonly LogStream[]): Generator<StreamRow> {
  for (const stream of streams) {
    const labels = keyValues(stream.labels);
    for (const { timeNs, line } of stream.entries) yield { timestamp: timeNs, labels, line };
  }
}

function* metricRows(result: MetricResult): Generator<MetricRow> {
  switch (result.kind) {
    case 'scalar':
      yield { timestamp: result.timeMs, labels: [], value: result.value };
      return;
    case 'vector':
      for (const { labels, value } of result.samples) {
        yield { timestamp: result.timeMs, labels: keyValues(labels), value };
      }
      return;
    case 'matrix':
      for (const { labels, timesMs, values } of result.series) {
        const shared = keyValues(labels);
        for (let i = 0; i < values.length; i++) {
          yield { timestamp: timesMs[i], labels: shared, value: values[i] };
        }
      }
  }
}

function keyValues(labels: Labels): readonly KeyValue[] {
  return labels.map(({ name, value }) => ({ key: name, value }));
}
