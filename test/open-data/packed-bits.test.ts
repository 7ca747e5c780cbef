/** Runs and bits of Parquet pages, as hyparquet reads them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { PackedLists, packed, packedFlags, run } from '../../shared/server/open-data/packed-bits.ts';

function read(bytes: Uint8Array, width: number, count: number, start = 0): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const values = new Uint32Array(count);
  readRleBitPackedHybrid({ view, offset: start }, width, values, bytes.length - start);
  return [...values];
}

describe('values of a page', () => {
  const widths = fc.integer({ min: 1, max: 20 });

  test('are runs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 255 }), (count, value) => {
        expect(read(run(value, count, 8), 8, count)).toEqual(new Array(count).fill(value));
      }),
      { numRuns: 20 },
    );
  });

  test('are bits', () => {
    const values = widths.chain(width =>
      fc.tuple(fc.constant(width), fc.array(fc.nat({ max: 2 ** width - 1 }), { minLength: 1 })),
    );
    fc.assert(
      fc.property(values, ([width, list]) => {
        expect(read(packed(Uint32Array.from(list), width, [width]), width, list.length, 1)).toEqual(list);
      }),
    );
  });

  test('are flags at any place in memory', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1 }), { minLength: 1 }), fc.nat({ max: 9 }), (flags, from) => {
        const memory = Uint8Array.from([...new Array<number>(from).fill(1), ...flags, 1]);
        const bytes = packedFlags(memory.subarray(from, from + flags.length));
        expect(read(bytes, 1, flags.length)).toEqual(flags);
      }),
    );
  });

  test('are those of lists, some of which are empty', () => {
    const lists = widths.chain(width =>
      fc.tuple(
        fc.constant(width),
        fc.array(fc.array(fc.nat({ max: 2 ** width - 1 })), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 30 }),
      ),
    );
    fc.assert(
      fc.property(lists, ([width, each, chosen]) => {
        const packedLists = new PackedLists(width);
        for (const list of each) packedLists.add(list);
        const numbers = Uint32Array.from(chosen, number => number % each.length);
        const want = [...numbers].flatMap(number => each[number]);
        const bytes = packedLists.pack(numbers, want.length, [width]);
        expect(read(bytes, width, want.length, 1)).toEqual(want);
      }),
    );
  });
});
