/**
 * Samples per second of the metric stages: range aggregations batch by batch, and whole-matrix operations.
 */

import type { SampleBatch } from '../../shared/base/model/samples.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { evaluateMetric } from '../../shared/execution/metrics/evaluate.ts';
import type { SeriesMatrix } from '../../shared/execution/metrics/matrix.ts';
import { createRangeAccumulator } from '../../shared/execution/metrics/range-accumulator.ts';
import type { RangeOp, VectorAggregationExpr } from '../../shared/language/logql/ast.ts';

const START = 1_700_000_000n * NS_PER_SECOND;
const ROWS = 8192;
const PAGES = 128;

/** Pages of rows 1 ms apart; the series changes every `runLength` rows. */
function pagesOf(series: number, runLength: number, withValues: boolean): SampleBatch[] {
  const rows = Uint32Array.from({ length: ROWS }, (_, i) => i);
  const times = Float64Array.from({ length: ROWS }, (_, i) => i * 1e6);
  const values = withValues ? Float64Array.from({ length: ROWS }, (_, i) => (i * 7919) % 1000) : undefined;
  const numbers = Uint32Array.from({ length: ROWS }, (_, i) => Math.floor(i / runLength) % series);
  return Array.from({ length: PAGES }, (_, page) => ({
    baseNs: START + BigInt(page) * BigInt(ROWS) * 1_000_000n,
    times,
    count: ROWS,
    rows,
    series: numbers,
    values,
  }));
}

interface Case {
  readonly name: string;
  readonly samples: number;
  run(): void;
}

function rangeCase(
  name: string,
  op: RangeOp,
  pages: readonly SampleBatch[],
  stepSeconds: bigint,
  rangeSeconds: bigint,
): Case {
  const spanNs = BigInt(PAGES) * BigInt(ROWS) * 1_000_000n;
  return {
    name,
    samples: PAGES * ROWS,
    run() {
      const accumulator = createRangeAccumulator({
        op,
        parameter: 0.99,
        startNs: START,
        endNs: START + spanNs,
        stepNs: stepSeconds * NS_PER_SECOND,
        rangeNs: rangeSeconds * NS_PER_SECOND,
        offsetNs: 0n,
        unwrapped: op !== 'count_over_time',
      });
      for (const page of pages) accumulator.addBatch(page);
      accumulator.finish(series => [{ name: 'series', value: `${series}` }]);
    },
  };
}

const oneSeries = pagesOf(1, ROWS, false);
const oneSeriesValues = pagesOf(1, ROWS, true);
const interleaved = pagesOf(50, 1, false);
const interleavedValues = pagesOf(50, 1, true);

const INSTANTS = 1000;
const SERIES = 1000;
const matrix: SeriesMatrix = {
  timesMs: Float64Array.from({ length: INSTANTS }, (_, i) => i),
  series: Array.from({ length: SERIES }, (_, number) => ({
    labels: [
      { name: 'app', value: `app-${number % 20}` },
      { name: 'pod', value: `pod-${number}` },
    ],
    first: 0,
    values: Float64Array.from({ length: INSTANTS }, (_, i) => (i * 31 + number * 17) % 997),
    present: new Uint8Array(INSTANTS).fill(1),
  })),
};

function vectorCase(op: VectorAggregationExpr['op'], parameter?: number): Case {
  const leaf = {
    kind: 'rangeAggregation',
    op: 'count_over_time',
    range: { log: { kind: 'log', selector: [], stages: [] }, rangeNs: NS_PER_SECOND, offsetNs: 0n },
  } as const;
  const expr = {
    kind: 'vectorAggregation',
    op,
    parameter,
    expr: leaf,
    grouping: { without: false, labels: ['app'] },
  } as const;
  return {
    name: `${op} by (app), 1000 series of 1000 instants`,
    samples: INSTANTS * SERIES,
    run() {
      evaluateMetric(expr, {
        leaf: () => matrix,
        startNs: 0n,
        endNs: BigInt(INSTANTS - 1) * NS_PER_SECOND,
        stepNs: NS_PER_SECOND,
        instant: false,
        maxSeries: 0,
      });
    },
  };
}

export const cases: readonly Case[] = [
  rangeCase('count_over_time, 1 series, step 60 s', 'count_over_time', oneSeries, 60n, 60n),
  rangeCase('count_over_time, 1 series, step 1 s, range 5 min', 'count_over_time', oneSeries, 1n, 300n),
  rangeCase('count_over_time, 50 series interleaved, step 60 s', 'count_over_time', interleaved, 60n, 60n),
  rangeCase(
    'count_over_time, 50 series interleaved, step 1 s, range 5 min',
    'count_over_time',
    interleaved,
    1n,
    300n,
  ),
  rangeCase('sum_over_time, 1 series, step 60 s', 'sum_over_time', oneSeriesValues, 60n, 60n),
  rangeCase('sum_over_time, 50 series interleaved, step 60 s', 'sum_over_time', interleavedValues, 60n, 60n),
  rangeCase('avg_over_time, 1 series, step 15 s, range 5 min', 'avg_over_time', oneSeriesValues, 15n, 300n),
  rangeCase(
    'stddev_over_time, 50 series interleaved, step 15 s',
    'stddev_over_time',
    interleavedValues,
    15n,
    300n,
  ),
  rangeCase('quantile_over_time, 50 series, step 60 s', 'quantile_over_time', interleavedValues, 60n, 60n),
  rangeCase(
    'quantile_over_time, 50 series, step 15 s, range 5 min',
    'quantile_over_time',
    interleavedValues,
    15n,
    300n,
  ),
  rangeCase('rate_counter, 50 series, step 15 s, range 5 min', 'rate_counter', interleavedValues, 15n, 300n),
  vectorCase('sum'),
  vectorCase('topk', 5),
];
