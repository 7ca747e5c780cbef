/** Columns of counts hold the counts of footers, for the minutes and for the requested levels. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { CountColumns, type CountedAmount } from '../../shared/storage/chunk/count-columns.ts';
import type { LevelCounts } from '../../shared/storage/chunk/format.ts';
import { StoredCounts } from '../../shared/storage/chunk/stored-counts.ts';
import { ByteReader, ByteWriter, readVarints } from '../../shared/storage/codec/byte-io.ts';

const LEVELS = 3;

const arbitraryNumber = fc.oneof(
  fc.nat({ max: 200 }),
  fc.constantFrom(127, 128, 16_383, 16_384, 2 ** 32, Number.MAX_SAFE_INTEGER),
);

/** Up to 1441 buckets: of a stream that is unpacked each time, and of one that stays unpacked. */
const arbitraryStream: fc.Arbitrary<LevelCounts[]> = fc
  .array(
    fc.record({
      level: fc.nat({ max: LEVELS - 1 }),
      minutes: fc.oneof(
        fc.uniqueArray(fc.nat({ max: 1440 }), { maxLength: 8 }),
        fc.integer({ min: 60, max: 1441 }).map(count => Array.from({ length: count }, (_, i) => i)),
      ),
      seed: fc.array(arbitraryNumber, { minLength: 5, maxLength: 5 }),
    }),
    { maxLength: LEVELS },
  )
  .map(levels =>
    levels.map(({ level, minutes, seed }) => {
      const ascending = minutes.toSorted((a, b) => a - b);
      const numbers = (first: number) => ascending.map((_, i) => seed[(first + i) % seed.length]);
      return {
        level,
        minutes: ascending,
        entries: numbers(0),
        lineBytes: numbers(1),
        metadataBytes: numbers(2),
      };
    }),
  );

function stored(streams: readonly (readonly LevelCounts[])[]): StoredCounts {
  const out = new ByteWriter();
  for (const levels of streams) {
    out.varint(levels.length);
    for (const { level, minutes, entries, lineBytes, metadataBytes } of levels) {
      out.varint(level);
      out.varint(minutes.length);
      minutes.forEach((minute, i) => {
        out.varint(minute - (i === 0 ? 0 : minutes[i - 1]));
        for (const column of [entries, lineBytes, metadataBytes]) out.varint(column[i]);
      });
    }
  }
  return StoredCounts.read(new ByteReader(out.finish()), streams.length, LEVELS, 'test');
}

type Piece = readonly [level: number, buckets: readonly (readonly [minute: number, amount: number])[]];

function piecesOf(columns: CountColumns): Piece[] {
  return Array.from({ length: columns.pieces }, (_, piece) => {
    const buckets: [number, number][] = [];
    for (let i = columns.startOf(piece); i < columns.endOf(piece); i++) {
      buckets.push([columns.minutes[i], columns.amounts[i]]);
    }
    return [columns.levels[piece], buckets];
  });
}

test('columns hold the buckets of the range, stream by stream, for any previous contents', () => {
  const columns = new CountColumns();
  fc.assert(
    fc.property(
      fc.array(arbitraryStream, { maxLength: 12 }),
      fc.tuple(fc.nat({ max: 1440 }), fc.nat({ max: 1440 })),
      fc.constantFrom<CountedAmount>('entries', 'lineBytes'),
      (streams, [one, other], counted) => {
        const stretch = { from: Math.min(one, other), to: Math.max(one, other) };
        const want = streams.flat().flatMap((counts): Piece[] => {
          const buckets = counts.minutes
            .map((minute, i) => [minute, counts[counted][i]] as const)
            .filter(([minute]) => minute >= stretch.from && minute <= stretch.to);
          return buckets.length === 0 ? [] : [[counts.level, buckets]];
        });
        const counts = stored(streams);
        columns.reset(stretch, counted);
        streams.forEach((_, stream) => {
          counts.addTo(columns, stream);
        });
        expect(piecesOf(columns)).toEqual(want);
        columns.reset(stretch, counted);
        for (const levels of streams) for (const level of levels) columns.add(level);
        expect(piecesOf(columns)).toEqual(want);
      },
    ),
    { numRuns: 200 },
  );
});

describe('readVarints', () => {
  test('reads written columns', () => {
    fc.assert(
      fc.property(fc.array(arbitraryNumber), numbers => {
        const out = new ByteWriter();
        for (const number of numbers) out.varint(number);
        const bytes = Buffer.concat([Buffer.from([1, 2]), out.finish(), Buffer.from([3])]);
        const found = new Float64Array(bytes.length);
        expect(readVarints(bytes, 2, bytes.length - 1, found)).toBe(numbers.length);
        expect([...found.subarray(0, numbers.length)]).toEqual(numbers);
      }),
    );
  });

  test.each([
    ['cut', [1, 0x80]],
    ['2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['of nine bytes', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]],
  ])('refuses a varint that is %s, as a ByteReader does', (_, bytes) => {
    const found = new Float64Array(bytes.length);
    expect(() => readVarints(Buffer.from(bytes), 0, bytes.length, found)).toThrow(CorruptionError);
    const reader = new ByteReader(Buffer.from(bytes));
    expect(() => {
      while (reader.remaining > 0) reader.varint();
    }).toThrow(CorruptionError);
  });
});
