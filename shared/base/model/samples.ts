/** What a metric pipeline hands to the range aggregations: samples of one page, by position. */
import type { Labels } from './labels.ts';

export interface SampleBatch {
  /** Unix nanoseconds that `times` is relative to. */
  readonly baseNs: bigint;
  /** The page's offsets, ns, indexed by row. */
  readonly times: Float64Array;
  /** How many samples; `rows`, `series` and `values` may be longer. */
  readonly count: number;
  /** Row of each sample in the page. */
  readonly rows: Uint32Array;
  /** Series number of each sample, a place in the extractor's series table. */
  readonly series: Uint32Array;
  /** Value of each sample; absent where every value is 1. */
  readonly values: Float64Array | undefined;
}

/** The series that an extractor has met so far, numbered from 0. */
export interface SeriesTable {
  readonly count: number;
  labelsOf(series: number): Labels;
}
