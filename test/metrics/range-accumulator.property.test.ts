import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError, CorruptionError } from '../../shared/base/model/errors.ts';
import {
  createRangeAccumulator,
  RangeAccumulator,
} from '../../shared/execution/metrics/range-accumulator.ts';
import type { RangeSpec } from '../../shared/execution/metrics/range-spec.ts';
import type { RangeOp } from '../../shared/language/logql/ast.ts';
import { batchOf, naivePoints, pointsOf, type Sample, specOf } from './model.ts';

const OPERATIONS: RangeOp[] = [
  'count_over_time',
  'rate',
  'rate_counter',
  'bytes_over_time',
  'bytes_rate',
  'avg_over_time',
  'sum_over_time',
  'min_over_time',
  'max_over_time',
  'stdvar_over_time',
  'stddev_over_time',
  'quantile_over_time',
  'first_over_time',
  'last_over_time',
];

const EPOCH = 1_700_000_000_000_000_000n;

/** Small numbers, so that edges, gaps and overlaps of all kinds are frequent. */
const specsOf = (op: RangeOp) =>
  fc
    .record({
      parameter: fc.constantFrom(0, 0.25, 0.5, 0.9, 1),
      start: fc.integer({ min: 0, max: 60 }),
      length: fc.integer({ min: 0, max: 60 }),
      step: fc.integer({ min: 0, max: 12 }),
      range: fc.integer({ min: 0, max: 40 }),
      offset: fc.integer({ min: -30, max: 30 }),
      unwrapped: fc.boolean(),
    })
    .map(
      ({ parameter, start, length, step, range, offset, unwrapped }): RangeSpec =>
        specOf({
          op,
          parameter: op === 'quantile_over_time' ? parameter : undefined,
          startNs: EPOCH + BigInt(start),
          endNs: EPOCH + BigInt(step === 0 ? start : start + length),
          stepNs: BigInt(step),
          rangeNs: BigInt(range),
          offsetNs: BigInt(offset),
          unwrapped,
        }),
    );

const specs = fc.constantFrom(...OPERATIONS).chain(specsOf);

const values = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -20, max: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, 0.5, 1e9) },
);

/** Distinct timestamps: of equal ones the first and the last depend on the order of arrival. */
const sampleLists = fc.uniqueArray(fc.integer({ min: -60, max: 160 }), { maxLength: 60 }).chain(times =>
  fc
    .array(fc.tuple(fc.integer({ min: 0, max: 2 }), values), {
      minLength: times.length,
      maxLength: times.length,
    })
    .map(rest => rest.map(([series, value], i): Sample => ({ series, ns: EPOCH + BigInt(times[i]), value }))),
);

function accumulate(spec: RangeSpec, samples: readonly Sample[], base: bigint): RangeAccumulator {
  const accumulator = createRangeAccumulator(spec);
  accumulator.addBatch(batchOf(samples, EPOCH + base));
  return accumulator;
}

function resultOf(accumulator: RangeAccumulator): [number, number, number][] {
  const matrix = accumulator.finish(series => [{ name: 'n', value: `${series}` }]);
  return pointsOf(matrix, index => Number(matrix.series[index].labels[0].value));
}

function expectClose(got: [number, number, number][], want: [number, number, number][]): void {
  expect(got.map(([series, instant]) => [series, instant])).toEqual(
    want.map(([series, instant]) => [series, instant]),
  );
  got.forEach(([, , value], i) => {
    const expected = want[i][2];
    if (!Number.isFinite(expected)) expect(value).toEqual(expected);
    else expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(expected)));
  });
}

describe('range aggregations', () => {
  test.each(OPERATIONS)('equal the definitions: %s', op => {
    fc.assert(
      fc.property(specsOf(op), sampleLists, fc.integer({ min: -100, max: 100 }), (spec, samples, base) => {
        expectClose(resultOf(accumulate(spec, samples, BigInt(base))), naivePoints(spec, samples));
      }),
      { numRuns: 300 },
    );
  });

  test('merge in any split and order, through bytes or not', () => {
    const parts = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 60, maxLength: 60 });
    const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(specs, sampleLists, parts, order, fc.boolean(), (spec, samples, part, merging, encoded) => {
        const whole = accumulate(spec, samples, 0n);
        const merged = createRangeAccumulator(spec);
        for (const number of merging) {
          const own = accumulate(
            spec,
            samples.filter((_, i) => part[i] === number),
            -7n,
          );
          merged.merge(encoded ? RangeAccumulator.decode(own.encode()) : own);
        }
        expectClose(resultOf(merged), resultOf(whole));
        expect(merged.panes).toBe(whole.panes);
      }),
      { numRuns: 800 },
    );
  });

  test('survive encoding byte for byte', () => {
    fc.assert(
      fc.property(specs, sampleLists, (spec, samples) => {
        const bytes = accumulate(spec, samples, 0n).encode();
        const decoded = RangeAccumulator.decode(bytes);
        expect(decoded.spec).toEqual(spec);
        expect(Buffer.compare(Buffer.from(decoded.encode()), Buffer.from(bytes))).toBe(0);
      }),
    );
  });
});

describe('decode', () => {
  /** Decodes bytes, and finishes a valid result. Every failure must state what is invalid. */
  function survives(bytes: Uint8Array): void {
    try {
      RangeAccumulator.decode(bytes, 8 * 1024 * 1024).finish(() => []);
    } catch (error) {
      const known = error instanceof CorruptionError || error instanceof BadRequestError;
      if (!known) throw error;
    }
  }

  test('refuses or survives changed bytes', () => {
    fc.assert(
      fc.property(
        specs,
        sampleLists,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
        fc.nat({ max: 20 }),
        (spec, samples, changes, cut) => {
          const bytes = accumulate(spec, samples, 0n).encode();
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          survives(bytes.subarray(0, bytes.length - cut));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('refuses random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives), { numRuns: 500 });
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['an unknown version', b => Uint8Array.of(9, ...b.subarray(1))],
    ['an unknown operation', b => Uint8Array.of(1, 99, ...b.subarray(2))],
    ['bytes after the end', b => Uint8Array.of(...b, 0)],
    ['a cut end', b => b.subarray(0, -1)],
    ['nothing', () => new Uint8Array(0)],
    ['a count without its bytes', b => Uint8Array.of(...b.subarray(0, 51), 0xff, 0xff, 0x7f)],
  ])('refuses %s', (_, change) => {
    const spec = specOf({ startNs: 10n, endNs: 30n, stepNs: 5n });
    const bytes = createRangeAccumulator(spec);
    bytes.addBatch(batchOf([{ series: 4, ns: 12n, value: 1 }], 0n));
    expect(() => RangeAccumulator.decode(change(bytes.encode()))).toThrow(CorruptionError);
  });
});
