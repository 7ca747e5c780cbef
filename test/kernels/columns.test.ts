/** Columns of times and lengths are those of the plain version, of any bytes, and nothing else is touched. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  columnMemoryBytes,
  lowBytesOf,
  packLengths,
  packTimes,
  type TimeDifferences,
  unpackLengths,
  unpackTimes,
} from '../../shared/base/kernels/columns.ts';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import { type Guard, guardKernels } from './guard.ts';
import { readNumbers, readTimes, writeNumber, writeTimes } from './oracles/columns.ts';

const UNITS = [1, 1000, 1_000_000, 1_000_000_000];

let guard: Guard;

function expectLengths(packed: Uint8Array, rows: number): number {
  guard.allow([[4096, columnMemoryBytes(packed.length, 4 * (rows + 1))]]);
  const { offsets, soundRows, usedBytes, total } = unpackLengths(packed, rows);
  const { numbers, at } = readNumbers(packed, rows, 5);
  const sum = numbers.reduce((a, b) => a + b, 0n);
  expect({ soundRows, usedBytes, total }).toEqual({
    soundRows: numbers.length,
    usedBytes: at,
    total: Number(sum),
  });
  if (soundRows === rows && sum < 2n ** 32n) {
    let offset = 0;
    expect([...offsets]).toEqual([0, ...numbers.map(number => (offset += Number(number)))]);
  }
  expect(guard.faults).toEqual([]);
  return soundRows;
}

interface Parts {
  readonly high: Uint8Array;
  readonly low: Uint8Array;
  readonly bits: number;
}

function expectTimes(parts: Parts, unit: number, rows: number, firstRows: number[]): void {
  const { high, low } = parts;
  guard.allow([[4096, columnMemoryBytes(high.length, low.length, 4 * (firstRows.length + 1), 8 * rows)]]);
  const { times, soundRows } = unpackTimes(parts, unit, rows, firstRows);
  const expected = readTimes(parts, unit, rows, firstRows);
  expect([...times.subarray(0, soundRows)]).toEqual(expected);
  expect(guard.faults).toEqual([]);
}

const numbers = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 127 }),
    fc.integer({ min: 0, max: 20_000 }),
    fc.integer({ min: 0, max: 0xffffffff }),
  ),
  { maxLength: 70 },
);
/** Mostly continuations, mostly none, or anything. */
const bytes = fc
  .tuple(fc.uint8Array({ maxLength: 90 }), fc.constantFrom(0x00, 0x80, 0xff), fc.constantFrom(0x7f, 0xff))
  .map(([some, or, and]) => some.map((byte, i) => (i % 5 === 0 ? byte : (byte | or) & and)));

// The instance is one for the thread: that under guard is made here, before there is another.
describe('columns under guard', () => {
  beforeAll(() => {
    guard = guardKernels();
  });
  afterAll(() => guard.release());

  test('lengths are written and read as by the plain version', () => {
    fc.assert(
      fc.property(numbers, lengths => {
        guard.allow([[4096, columnMemoryBytes(4 * lengths.length, 5 * lengths.length)]]);
        const packed = packLengths(Uint32Array.from(lengths), lengths.length);
        expect([...packed]).toEqual(lengths.flatMap(length => writeNumber(BigInt(length))));
        expect(guard.faults).toEqual([]);
        expect(expectLengths(packed, lengths.length)).toBe(lengths.length);
        expectLengths(packed, lengths.length + 1);
        expectLengths(packed.subarray(0, -1), lengths.length);
      }),
      { numRuns: 2_000 },
    );
    expect(guard.accesses).toBeGreaterThan(10_000);
  });

  test('any bytes are read as lengths and as times by the plain version', () => {
    const counts = fc.record({
      rows: fc.nat(90),
      bits: fc.nat(40),
      scale: fc.nat(3),
      first: fc.array(fc.nat(90)),
    });
    fc.assert(
      fc.property(bytes, bytes, counts, (high, some, { rows, bits, scale, first }) => {
        expectLengths(high, rows);
        const low = Uint8Array.from({ length: lowBytesOf(bits, rows) }, (_, i) => some[i % some.length] ?? 7);
        const firstRows = [...new Set(first)].sort((a, b) => a - b);
        expectTimes({ high, low, bits }, UNITS[scale], rows, firstRows);
      }),
      { numRuns: 3_000 },
    );
  });

  test('times are written as by the plain version, and come back', () => {
    const run = fc.tuple(
      fc.constantFrom(...UNITS),
      fc.constantFrom(60, 100_000, NS_OF_DAY / 1e9),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }),
    );
    const bitsFor =
      (bits: number) =>
      ({ mean, distance }: TimeDifferences) => {
        differences.push({ mean, distance: distance() });
        return bits;
      };
    let differences: { mean: number; distance: number }[] = [];
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 4 }), fc.nat(40), (parts, bits) => {
        differences = [];
        const offsets: number[] = [];
        const starts: number[] = [];
        for (const [unit, span, shares] of parts) {
          const times = shares
            .map(share => Math.floor((share * span * 1e9) / unit) * unit)
            .sort((a, b) => a - b);
          offsets.push(...times.map(time => time % NS_OF_DAY).sort((a, b) => a - b));
          starts.push(...times.map((_, i) => (i === 0 ? 1 : 0)));
        }
        const rows = offsets.length;
        guard.allow([[4096, columnMemoryBytes(8 * rows, rows, 8 * rows, 8 * rows)]]);
        const { scale, ...columns } = packTimes(
          Float64Array.from(offsets),
          rows,
          Uint8Array.from(starts),
          UNITS,
          bitsFor(bits),
        );
        expect(guard.faults).toEqual([]);
        const found = { scale, high: [...columns.high], low: [...columns.low], bits };
        expect(found).toEqual(writeTimes(offsets, starts, UNITS, bitsFor(bits)));
        const [{ mean, distance }, plain] = differences;
        expect(mean).toBeCloseTo(plain.mean, 3);
        expect(distance / (plain.distance || 1)).toBeCloseTo(plain.distance === 0 ? 0 : 1, 3);
        const firstRows = starts.flatMap((start, i) => (start === 1 ? [i] : []));
        expectTimes(columns, UNITS[scale], rows, firstRows);
        expect([...unpackTimes(columns, UNITS[scale], rows, firstRows).times]).toEqual(offsets);
      }),
      { numRuns: 1_000 },
    );
  });

  test('encodes columns of no rows, and of more than are kept in memory', () => {
    expectLengths(Buffer.alloc(0), 0);
    expectLengths(Buffer.alloc(0), 3);
    expectTimes({ high: Buffer.alloc(0), low: Buffer.alloc(0), bits: 0 }, 1, 0, []);
    const rows = 1_500_000;
    expectLengths(Buffer.alloc(rows, 1), rows);
    expectLengths(Buffer.from([3]), 1);
  });
});
