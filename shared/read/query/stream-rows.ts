/**
 * Rows that represent many entries of a stream and a detected level, as a synthetic page. The query's own
 * pipeline decides the series of each.
 */

import type { MetadataColumn, PageRows, Run, Stream } from '../../base/model/page.ts';
import type { SampleExtractor } from '../../execution/pipeline/extractor.ts';
import type { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import { LEVEL_NAME } from '../../storage/chunk/format.ts';

export interface RowSinks {
  readonly extractor: SampleExtractor;
  readonly timeSlice: TimeSlice;
  /** Returns the stream as the query sees it. */
  shown(stream: Stream): Stream;
}

/** Marks a row for which the pipeline has no series. */
export const NO_SERIES = -1;
const NONE = -1;

/** Returns the series of each row, or NO_SERIES if the pipeline has none. */
export function seriesOfRows(
  rows: StreamRows,
  { extractor, timeSlice, shown }: RowSinks,
  dayStartNs: bigint,
): Int32Array {
  const series = new Int32Array(rows.count).fill(NO_SERIES);
  const page = rows.page(dayStartNs, shown);
  const selection = Uint32Array.from(series, (_, row) => row);
  timeSlice.left = 0;
  for (let left = rows.count; left > 0; left = timeSlice.left) {
    timeSlice.begin();
    const batch = extractor.extract(page, selection, left);
    for (let i = 0; i < batch.count; i++) series[batch.rows[i]] = batch.series[i];
  }
  return series;
}

/** Collects each (stream, level) once, in the order of arrival. */
export class StreamRows {
  /** First row of each stream. */
  readonly #first = new Map<Stream, number>();
  readonly #streams: Stream[] = [];
  readonly #levels: number[] = [];
  /** Next row of the same stream. */
  readonly #next: number[] = [];
  readonly #values: string[] = [];

  get count(): number {
    return this.#streams.length;
  }

  get levelCount(): number {
    return this.#values.length;
  }

  /** Level 0 is that of entries without one, just as ID 0 of a column is that of rows without the name. */
  levelId(value: string): number {
    if (value === '') return 0;
    const known = this.#values.indexOf(value);
    return known >= 0 ? known + 1 : this.#values.push(value);
  }

  rowOf(stream: Stream, level: number): number {
    const levels = this.#levels;
    const next = this.#next;
    let row = this.#first.get(stream) ?? NONE;
    let last = NONE;
    while (row !== NONE && levels[row] !== level) {
      last = row;
      row = next[row];
    }
    if (row !== NONE) return row;
    row = this.#streams.push(stream) - 1;
    levels.push(level);
    next.push(NONE);
    if (last === NONE) this.#first.set(stream, row);
    else next[last] = row;
    return row;
  }

  page(baseNs: bigint, shown: RowSinks['shown']): PageRows {
    const { count: rows } = this;
    const streams = this.#streams;
    const levels = this.#levels;
    const values = this.#values;
    const runs: Run[] = [];
    for (let row = 0, end = 0; row < rows; row = end) {
      while (end < rows && streams[end] === streams[row]) end++;
      runs.push({ stream: shown(streams[row]), firstRow: row, rows: end - row });
    }
    const column: MetadataColumn = {
      name: LEVEL_NAME,
      ids: Uint32Array.from(levels),
      count: values.length,
      valueAt: i => values[i],
    };
    return {
      rows,
      baseNs,
      times: new Float64Array(rows),
      lines: NO_LINES,
      lineOffsets: new Uint32Array(rows + 1),
      runs,
      metadata: values.length === 0 ? [] : [column],
    };
  }
}

const NO_LINES = Buffer.alloc(0);
