/** Samples of one page, by row, that a metric pipeline passes to the range aggregations. */
import type { Labels } from './labels.ts';

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
}

/** Series that an extractor has found so far, numbered from 0. */
export interface SeriesTable {
  readonly count: number;
  labelsOf(series: number): Labels;
}
