/** Samples of one page, by row, that a metric pipeline passes to the range aggregations. */
import type { Labels } from './labels.ts';

/**
 * Order of a page's samples among others with their timestamp: between streams, then between chunks and their pages. It is
 * that of entries (docs/dev/decisions/0007-order-of-equal-timestamps.md), and does not depend on what is read first.
 */
export interface SampleOrder {
  /** Returns the number of a row's stream. Rows are mostly requested in ascending order. */
  streamOf(row: number): number;
  /** Numbers of the chunk. The second decides if the first are equal. */
  readonly chunk: readonly [number, number];
  /** Offset of the page in the chunk. */
  readonly page: number;
}

export interface SampleBatch {
  /** Unix nanoseconds that `times` is relative to. */
  readonly baseNs: bigint;
  /** The page's offsets, ns, indexed by row. */
  readonly times: Float64Array;
  /** Number of samples; `rows`, `series` and `values` may be longer. */
  readonly count: number;
  /** Row of each sample in the page. */
  readonly rows: Uint32Array;
  /** Series number of each sample, an index into the extractor's series table. */
  readonly series: Uint32Array;
  /** Value of each sample; absent if every value is 1. */
  readonly values: Float64Array | undefined;
  /** Only for aggregations that use the first or last sample. */
  readonly order?: SampleOrder | undefined;
}

/** Series that an extractor has found so far, numbered from 0. */
export interface SeriesTable {
  readonly count: number;
  labelsOf(series: number): Labels;
}
