import { describe, expect, test } from '@jest/globals';
import { NS_PER_MINUTE, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import {
  createRangeAccumulator,
  RangeAccumulator,
} from '../../shared/execution/metrics/range-accumulator.ts';
import type { RangeSpec } from '../../shared/execution/metrics/range-spec.ts';
import type { RangeOp } from '../../shared/language/logql/ast.ts';
import { batchOf, naivePoints, pointsOf, type Sample, specOf } from './model.ts';

const seconds = (n: number): bigint => BigInt(Math.round(n * 1e9));
const numbered = (series: number) => [{ name: 'n', value: `${series}` }];

/** `[seconds, value]` pairs as samples of series 0. */
function samplesOf(pairs: readonly (readonly [number, number])[], series = 0): Sample[] {
  return pairs.map(([at, value]) => ({ series, ns: seconds(at), value }));
}

function run(spec: RangeSpec, samples: readonly Sample[], withValues = true): [number, number, number][] {
  const accumulator = createRangeAccumulator(spec);
  accumulator.addBatch(batchOf(samples, 0n, withValues));
  const matrix = accumulator.finish(numbered);
  return pointsOf(matrix, index => Number(matrix.series[index].labels[0].value));
}

/** The single value of an instant query over unwrapped values. */
function instantValue(
  op: RangeOp,
  pairs: readonly (readonly [number, number])[],
  at = 20,
  range = 20,
  parameter?: number,
): number {
  const spec = specOf({
    op,
    parameter,
    startNs: seconds(at),
    endNs: seconds(at),
    rangeNs: seconds(range),
    unwrapped: true,
  });
  const points = run(spec, samplesOf(pairs));
  expect(points).toHaveLength(1);
  return points[0][2];
}

const ENTRIES = [
  [10, 1],
  [12, 4],
  [15, 9],
  [18, 2],
] as const;

describe('worked cases', () => {
  test.each<[RangeOp, number, number | undefined, number]>([
    ['count_over_time', 10, undefined, 3],
    ['rate', 20, undefined, 0.8],
    ['rate_counter', 20, undefined, 0.675],
    ['quantile_over_time', 20, 0.25, 1.75],
    ['quantile_over_time', 20, 1.5, Infinity],
    ['quantile_over_time', 20, -0.1, -Infinity],
    ['quantile_over_time', 20, 0, 1],
    ['quantile_over_time', 20, 1, 9],
    ['stddev_over_time', 20, undefined, 3.082207001484488],
    ['stdvar_over_time', 20, undefined, 9.5],
    ['avg_over_time', 20, undefined, 4],
    ['sum_over_time', 20, undefined, 16],
    ['min_over_time', 20, undefined, 1],
    ['max_over_time', 20, undefined, 9],
    ['first_over_time', 20, undefined, 1],
    ['first_over_time', 10, undefined, 4],
    ['last_over_time', 20, undefined, 2],
    ['bytes_over_time', 20, undefined, 16],
    ['bytes_rate', 20, undefined, 0.8],
    ['absent_over_time', 20, undefined, 4],
  ])('%s [%is] (%s) is %f', (op, range, parameter, want) => {
    expect(instantValue(op, ENTRIES, 20, range, parameter)).toBeCloseTo(want, 12);
  });

  test('counts with a negative offset look ahead', () => {
    const spec = specOf({
      startNs: seconds(5),
      endNs: seconds(15),
      stepNs: seconds(5),
      rangeNs: seconds(20),
      offsetNs: seconds(-5),
    });
    expect(run(spec, samplesOf(ENTRIES))).toEqual([
      [0, 0, 1],
      [0, 1, 3],
      [0, 2, 4],
    ]);
  });

  test('rate without unwrap counts lines, for any values', () => {
    const spec = specOf({
      op: 'rate',
      startNs: 20n * NS_PER_SECOND,
      endNs: 20n * NS_PER_SECOND,
      rangeNs: 10n * NS_PER_SECOND,
    });
    expect(run(spec, samplesOf(ENTRIES))).toEqual([[0, 0, 0.3]]);
    expect(run(spec, samplesOf(ENTRIES), false)).toEqual([[0, 0, 0.3]]);
  });

  test('samples without values count 1 for every operation', () => {
    const want: Partial<Record<RangeOp, number>> = {
      sum_over_time: 4,
      avg_over_time: 1,
      min_over_time: 1,
      max_over_time: 1,
      stddev_over_time: 0,
      first_over_time: 1,
      last_over_time: 1,
      quantile_over_time: 1,
    };
    for (const [op, value] of Object.entries(want)) {
      const spec = specOf({
        op: op as RangeOp,
        parameter: 0.5,
        startNs: 20n * NS_PER_SECOND,
        endNs: 20n * NS_PER_SECOND,
        rangeNs: 20n * NS_PER_SECOND,
        unwrapped: true,
      });
      expect([op, run(spec, samplesOf(ENTRIES), false)]).toEqual([op, [[0, 0, value]]]);
    }
  });
});

describe('special values, in the order given', () => {
  const { NaN: nan } = Number;
  const inf = Infinity;
  test.each<[RangeOp, number[], number]>([
    ['max_over_time', [nan, 5, inf], inf],
    ['min_over_time', [nan, 5, inf], 5],
    ['avg_over_time', [nan, 5, inf], nan],
    ['sum_over_time', [nan, 5, inf], nan],
    ['max_over_time', [5, nan], 5],
    ['min_over_time', [5, nan], 5],
    ['max_over_time', [nan, nan], nan],
    ['min_over_time', [nan], nan],
    ['max_over_time', [-inf, nan], -inf],
    ['avg_over_time', [inf, 1, 2], inf],
    ['avg_over_time', [1, inf, inf, -3], inf],
    ['avg_over_time', [-inf, 7], -inf],
    ['avg_over_time', [inf, -inf], nan],
    ['avg_over_time', [1, -inf, 2, inf], nan],
    ['avg_over_time', [inf, nan], nan],
    ['avg_over_time', [1.5e308, 1.5e308], 1.5e308],
    ['avg_over_time', [1.5e308, -1.5e308], 0],
    ['sum_over_time', [inf, -inf], nan],
    ['sum_over_time', [inf, 1], inf],
    ['stdvar_over_time', [inf], nan],
    ['stdvar_over_time', [nan, 1], nan],
    ['stdvar_over_time', [3], 0],
    ['quantile_over_time', [nan, 1], nan],
    ['quantile_over_time', [nan, 1, 2], 1],
    // The formula weighs the upper neighbor by 0, and 0 times infinity is NaN.
    ['quantile_over_time', [inf, 1, -inf], nan],
    ['quantile_over_time', [inf, -inf, 2, 3], 2.5],
    ['first_over_time', [nan, 1], nan],
    ['last_over_time', [1, nan], nan],
    ['rate_counter', [5], 0],
    ['count_over_time', [nan, inf], 2],
  ])('%s of %j is %d', (op, values, want) => {
    const pairs = values.map((value, i) => [i + 1, value] as const);
    // One pane an instant, and one pane a sample.
    expect(instantValue(op, pairs, 20, 20, 0.5)).toBe(want);
    const spec = specOf({
      op,
      parameter: 0.5,
      startNs: 20n * NS_PER_SECOND,
      endNs: 60n * NS_PER_SECOND,
      stepNs: NS_PER_SECOND / 2n,
      rangeNs: 20n * NS_PER_SECOND,
      unwrapped: true,
    });
    expect(run(spec, samplesOf(pairs))[0]).toEqual([0, 0, want]);
  });

  test('rate_counter: all samples at one instant give NaN, a negative first sample is not extrapolated to zero', () => {
    expect(
      instantValue('rate_counter', [
        [5, 1],
        [5, 3],
      ]),
    ).toBeNaN();
    // 20 s window; span 10, average 10, start 5 < 11 stays, end 5 stays: 4 * 20 / 10 / 20
    expect(
      instantValue('rate_counter', [
        [5, -2],
        [15, 2],
      ]),
    ).toBeCloseTo(0.4, 12);
  });

  test('rate_counter and first and last do not depend on the order of arrival', () => {
    const late = [ENTRIES[3], ENTRIES[1], ENTRIES[0], ENTRIES[2]];
    expect(instantValue('rate_counter', late)).toBeCloseTo(0.675, 12);
    expect([instantValue('first_over_time', late), instantValue('last_over_time', late)]).toEqual([1, 2]);
  });

  test('first and last follow the source order of samples with one timestamp', () => {
    const pairs = [
      [5, 1],
      [5, 2],
      [5, 3],
    ] as const;
    expect(instantValue('first_over_time', pairs)).toBe(1);
    expect(instantValue('last_over_time', pairs)).toBe(3);
  });
});

describe('windows', () => {
  const at = (...ns: bigint[]): Sample[] => ns.map(time => ({ series: 0, ns: time, value: 1 }));

  test('are open on the left and closed on the right, to the nanosecond', () => {
    const base = 1_700_000_000_000_000_000n;
    const spec = specOf({ startNs: base, endNs: base + 20n, stepNs: 10n, rangeNs: 10n });
    const accumulator = createRangeAccumulator(spec);
    expect([accumulator.readFromNs, accumulator.readToNs]).toEqual([base - 10n, base + 20n]);
    accumulator.addBatch(
      batchOf(at(base - 10n, base - 9n, base, base + 1n, base + 20n, base + 21n), base - 1_000_000_000n),
    );
    expect(pointsOf(accumulator.finish(numbered), index => index)).toEqual([
      [0, 0, 2],
      [0, 1, 1],
      [0, 2, 1],
    ]);
  });

  test('gaps between windows hold nothing', () => {
    const spec = specOf({ startNs: 100n, endNs: 130n, stepNs: 10n, rangeNs: 3n });
    expect(run(spec, at(97n, 98n, 100n, 101n, 107n, 108n, 120n, 127n, 131n))).toEqual([
      [0, 0, 2],
      [0, 1, 1],
      [0, 2, 1],
    ]);
  });

  test('a range of 0 is always empty', () => {
    expect(run(specOf({ startNs: 10n, endNs: 30n, stepNs: 10n, rangeNs: 0n }), at(10n, 20n, 15n))).toEqual(
      [],
    );
    expect(run(specOf({ startNs: 10n, endNs: 10n, rangeNs: 0n }), at(10n))).toEqual([]);
  });

  test('start = end has one instant, with a step and without', () => {
    for (const stepNs of [0n, 5n]) {
      expect(run(specOf({ startNs: 10n, endNs: 10n, stepNs }), at(1n, 10n, 11n))).toEqual([[0, 0, 2]]);
    }
  });

  test('instants stop at the last one before the end', () => {
    const accumulator = createRangeAccumulator(
      specOf({ startNs: 5_000_000n, endNs: 14_999_999n, stepNs: 5_000_000n, rangeNs: 1n }),
    );
    expect([...accumulator.finish(numbered).timesMs]).toEqual([5, 10]);
    expect(accumulator.readToNs).toBe(10_000_000n);
  });

  test('a range of many years stays exact at its borders', () => {
    const year = 31_536_000n * NS_PER_SECOND;
    const start = 60n * year;
    for (const stepNs of [0n, 7n]) {
      const spec = specOf({ startNs: start, endNs: start + 7n, stepNs, rangeNs: 50n * year });
      const accumulator = createRangeAccumulator(spec);
      const edge = start - 50n * year;
      accumulator.addBatch(batchOf(at(edge, edge + 1n, edge + 7n, edge + 8n), edge - 1_000_000n));
      accumulator.addBatch(batchOf(at(start - 1n, start, start + 1n, start + 7n, start + 8n), start - 77n));
      const want =
        stepNs === 0n
          ? [[0, 0, 5]]
          : [
              [0, 0, 5],
              [0, 1, 5],
            ];
      expect(pointsOf(accumulator.finish(numbered), index => index)).toEqual(want);
    }
  });

  test('overlap beyond the instants needs few panes', () => {
    const spec = specOf({
      startNs: 0n,
      endNs: NS_PER_SECOND,
      stepNs: NS_PER_SECOND,
      rangeNs: 30n * 86_400n * NS_PER_SECOND,
    });
    const accumulator = createRangeAccumulator(spec);
    const samples = Array.from({ length: 1000 }, (_, i) => ({
      series: 0,
      ns: BigInt(-i) * 3600n * NS_PER_SECOND,
      value: 1,
    }));
    accumulator.addBatch(batchOf(samples, -2000n * 3600n * NS_PER_SECOND));
    expect(accumulator.panes).toBe(1);
    expect(pointsOf(accumulator.finish(numbered), index => index)).toEqual([
      [0, 0, 720],
      [0, 1, 720],
    ]);
  });
});

describe('addMinutes', () => {
  const spec = specOf({
    startNs: NS_PER_MINUTE,
    endNs: 3n * NS_PER_MINUTE,
    stepNs: NS_PER_MINUTE,
    rangeNs: 2n * NS_PER_MINUTE,
  });
  const counts = { minutes: [-1, 0, 1, 2, 4], amounts: [50, 3, 5, 7, 9] };

  test('adds the buckets inside windows', () => {
    const accumulator = createRangeAccumulator(spec);
    accumulator.addMinutes(3, 0n, counts, 0, 5);
    expect(pointsOf(accumulator.finish(numbered), () => 3)).toEqual([
      [3, 0, 8],
      [3, 1, 12],
      [3, 2, 7],
    ]);
  });

  test('adds to existing values, across days, within the requested range', () => {
    const accumulator = createRangeAccumulator({ ...spec, op: 'bytes_over_time' });
    accumulator.addMinutes(0, 0n, counts, 0, 5);
    accumulator.addMinutes(0, NS_PER_MINUTE, { minutes: [7, 0, 7], amounts: [1, 1000, 1] }, 1, 2);
    expect(pointsOf(accumulator.finish(numbered), () => 0)).toEqual([
      [0, 0, 1008],
      [0, 1, 1012],
      [0, 2, 7],
    ]);
  });

  test('counts all series as one for absent_over_time', () => {
    const accumulator = createRangeAccumulator({ ...spec, op: 'absent_over_time' });
    accumulator.addMinutes(7, 0n, counts, 0, 5);
    expect(accumulator.panes).toBeGreaterThan(0);
    expect(pointsOf(accumulator.finish(numbered), () => 0)).toHaveLength(3);
  });
});

test('addAmount adds to panes by the hundred, also to one for which the states get more memory', () => {
  const accumulator = createRangeAccumulator(
    specOf({
      startNs: NS_PER_MINUTE,
      endNs: 3n * NS_PER_MINUTE,
      stepNs: NS_PER_MINUTE,
      rangeNs: NS_PER_MINUTE,
    }),
  );
  const time = Number(NS_PER_MINUTE);
  for (let series = 0; series < 1000; series++) accumulator.addAmount(series, 0n, time, series + 1);
  const matrix = accumulator.finish(numbered);
  const points = pointsOf(matrix, index => Number(matrix.series[index].labels[0].value));
  expect(points).toEqual(Array.from({ length: 1000 }, (_, series) => [series, 0, series + 1]));
});

describe('series and memory', () => {
  const spec = specOf({ startNs: 100n, endNs: 100n, rangeNs: 100n });

  test('a series map renumbers', () => {
    const samples: Sample[] = [0, 1, 2, 1].map((series, i) => ({ series, ns: BigInt(50 + i), value: 1 }));
    const accumulator = createRangeAccumulator(spec);
    accumulator.addBatch(batchOf(samples, 0n), Uint32Array.of(7, 2, 7));
    const matrix = accumulator.finish(numbered);
    expect(pointsOf(matrix, index => Number(matrix.series[index].labels[0].value))).toEqual([
      [2, 0, 2],
      [7, 0, 2],
    ]);
  });

  test('only `count` samples of a longer batch are read', () => {
    const accumulator = createRangeAccumulator(spec);
    const batch = batchOf(
      samplesOf([
        [0, 1],
        [0, 1],
      ]).map(s => ({ ...s, ns: 50n })),
      0n,
    );
    accumulator.addBatch({ ...batch, count: 1 });
    expect(pointsOf(accumulator.finish(numbered), index => index)).toEqual([[0, 0, 1]]);
  });

  test('a small batch in a large query takes little, and too much is refused', () => {
    const wide = specOf({ startNs: 0n, endNs: 11_000n * 60n, stepNs: 60n, rangeNs: 6000n });
    const sparse = createRangeAccumulator(wide, 200_000);
    sparse.addBatch(
      batchOf(
        Array.from({ length: 500 }, (_, series) => ({ series, ns: 330n, value: 1 })),
        0n,
      ),
    );
    expect(sparse.panes).toBe(500);
    const many = Array.from({ length: 5000 }, (_, series) => ({ series, ns: 330n, value: 1 }));
    expect(() => sparse.addBatch(batchOf(many, 0n))).toThrow(
      'the query needs more than 200000 bytes of memory for its partial results',
    );
    const kept = createRangeAccumulator({ ...wide, op: 'quantile_over_time', parameter: 0.5 }, 20_000);
    const one = many.map(sample => ({ ...sample, series: 0 }));
    expect(() => kept.addBatch(batchOf(one, 0n))).toThrow('more than 20000 bytes');
  });

  test('finish may be called again after more samples', () => {
    const accumulator = createRangeAccumulator(spec);
    accumulator.addBatch(batchOf([{ series: 0, ns: 10n, value: 1 }], 0n));
    expect(pointsOf(accumulator.finish(numbered), index => index)).toEqual([[0, 0, 1]]);
    accumulator.addBatch(batchOf([{ series: 0, ns: 20n, value: 1 }], 5n));
    expect(pointsOf(accumulator.finish(numbered), index => index)).toEqual([[0, 0, 2]]);
  });

  test('states of different queries do not merge', () => {
    const other = createRangeAccumulator({ ...spec, op: 'sum_over_time' });
    expect(() => createRangeAccumulator(spec).merge(other)).toThrow('invariant broken');
  });

  test('merge renumbers the series of the other side', () => {
    const left = createRangeAccumulator(spec);
    left.addBatch(batchOf([{ series: 1, ns: 10n, value: 1 }], 0n));
    const right = createRangeAccumulator(spec);
    right.addBatch(batchOf([{ series: 0, ns: 10n, value: 1 }], 0n));
    left.merge(RangeAccumulator.decode(right.encode()), Uint32Array.of(1));
    expect(pointsOf(left.finish(numbered), () => 1)).toEqual([[1, 0, 2]]);
  });
});

test('the naive model agrees on the worked cases', () => {
  const spec = specOf({
    op: 'rate_counter',
    startNs: 20n * NS_PER_SECOND,
    endNs: 20n * NS_PER_SECOND,
    rangeNs: 20n * NS_PER_SECOND,
  });
  expect(naivePoints(spec, samplesOf(ENTRIES))[0][2]).toBeCloseTo(0.675, 12);
});
