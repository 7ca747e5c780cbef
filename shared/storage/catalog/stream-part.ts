/**
 * Parts of the streams of a tenant, by hash. Chunks of a large tenant hold one part each, so that functions merge the parts at
 * the same time. The parts are the nodes of a binary tree: part 1 has all streams, and part n is divided into 2n and 2n + 1.
 *
 *                      1                    all streams
 *              2               3            hashes that begin with bit 0, with bit 1
 *          4       5       6       7        with 00, 01, 10, 11
 *
 * A part is stored in chunk records, so the hash is part of the format: the 64-bit xxHash of the labels (stream-hash.ts).
 */
import { invariant } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { streamHash } from '../../base/model/stream-hash.ts';

export const ALL_STREAMS = 1;
/** Bits of the hash that a part fixes at most. */
const MAX_PART_BITS = 8;
/** The largest number of a part. */
export const MAX_PART = 2 ** (MAX_PART_BITS + 1) - 1;

/**
 * Maximum share of the chunks of a group that may have more streams than its parts. Each ends the runs of its time
 * (order-runs.ts), so runs have about ten chunks.
 */
const COARSE_SHARE = 0.1;

/** Number of bits of the hash that the part fixes. */
export function partBits(part: number): number {
  return 31 - Math.clz32(part);
}

/** Returns the part of a stream if all streams are divided into 2 ** `bits` parts. */
export function partOfStream({ labels }: Pick<Stream, 'labels'>, bits: number): number {
  invariant(bits >= 0 && bits <= MAX_PART_BITS, `a part of ${bits} bits`);
  if (bits === 0) return ALL_STREAMS;
  return 2 ** bits + Number(streamHash(labels) >> BigInt(64 - bits));
}

/** Returns the smallest part that has all of the parts. */
export function commonPart(parts: Iterable<number>): number {
  let common: number | undefined;
  for (let part of parts) {
    common ??= part;
    while (common !== part) {
      if (common > part) common >>= 1;
      else part >>= 1;
    }
  }
  return common ?? ALL_STREAMS;
}

/** Returns the bits of the parts that nearly all of the chunks have, given the parts of the chunks. 0 for no chunks. */
export function usualPartBits(parts: readonly number[]): number {
  const bits = parts.map(partBits).sort((a, b) => a - b);
  return bits[Math.floor(bits.length * COARSE_SHARE)] ?? 0;
}

/** Returns the part with this number of bits that has all streams of `part`, or ALL_STREAMS if `part` has more. */
export function partAt(part: number, bits: number): number {
  const more = partBits(part) - bits;
  return more < 0 ? ALL_STREAMS : part >> more;
}

/** Returns true if all streams of `b` are in `a`. */
export function hasPart(a: number, b: number): boolean {
  return partBits(a) <= partBits(b) && shareStreams(a, b);
}

/** Returns true if a stream can be in both parts: one of them has the other. */
export function shareStreams(a: number, b: number): boolean {
  const bits = Math.min(partBits(a), partBits(b));
  return a >> (partBits(a) - bits) === b >> (partBits(b) - bits);
}
