/** Parts of the streams of a tenant, as chunk records name them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ALL_STREAMS,
  commonPart,
  MAX_PART,
  partBits,
  partOfStream,
  shareStreams,
} from '../../shared/storage/catalog/stream-part.ts';
import { streamOf } from '../support/rows.ts';

const LEAF_BITS = partBits(MAX_PART);
const part = fc.integer({ min: ALL_STREAMS, max: MAX_PART });

/** Hashes of LEAF_BITS bits of a part: from the first to before the last. */
function hashesOf(number: number): readonly [number, number] {
  const width = 2 ** (LEAF_BITS - partBits(number));
  const first = (number - 2 ** partBits(number)) * width;
  return [first, first + width];
}

describe('parts of streams', () => {
  test.each([
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
    [15, 3],
    [511, 8],
  ])('part %i fixes %i bits', (number, bits) => expect(partBits(number)).toBe(bits));

  // Records are stored, so the part of a stream never changes.
  test.each([
    [{ app: 'a' }, 380],
    [{ app: 'b' }, 288],
    [{ namespace: 'shop', pod: 'cart-0' }, 369],
  ])('the stream %j is in part %i of 8 bits', (labels, number) => {
    expect(partOfStream(streamOf(labels), LEAF_BITS)).toBe(number);
  });

  test('a stream is in one part of each number of bits, and each has the next', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), value => {
        const stream = streamOf({ app: value });
        for (let bits = 0; bits < LEAF_BITS; bits++) {
          expect(partOfStream(stream, bits + 1) >> 1).toBe(partOfStream(stream, bits));
        }
      }),
    );
  });

  test('parts share streams if they share hashes', () => {
    fc.assert(
      fc.property(part, part, (a, b) => {
        const [[from, to], [otherFrom, otherTo]] = [hashesOf(a), hashesOf(b)];
        expect(shareStreams(a, b)).toBe(from < otherTo && otherFrom < to);
      }),
    );
  });

  test('the common part has all parts, and none of its halves has', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), parts => {
        const common = commonPart(parts);
        const hasAll = (whole: number) =>
          parts.every(one => {
            const [[from, to], [first, end]] = [hashesOf(one), hashesOf(whole)];
            return first <= from && to <= end;
          });
        expect(hasAll(common)).toBe(true);
        if (partBits(common) < LEAF_BITS) {
          expect(hasAll(2 * common) || hasAll(2 * common + 1)).toBe(false);
        }
      }),
    );
  });

  test('the common part of none has all streams', () => expect(commonPart([])).toBe(ALL_STREAMS));
});
