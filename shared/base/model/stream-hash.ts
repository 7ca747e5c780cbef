/**
 * Computes the 64-bit xxHash of a label set, with seed 0, over the bytes `name 0xff value 0xff` of each
 * label. The reference orders entries of different streams with equal timestamps by this hash, so it
 * determines which of them a limit cuts off.
 *
 * It also divides the streams of large tenants into parts, which chunk records name (stream-part.ts). So it must not change.
 *
 * It is computed for streams whose entries share a timestamp, and for those of large merges. Its 64-bit arithmetic on
 * `bigint` takes about 10 µs for a label set of 100 bytes.
 */
import type { Labels } from './labels.ts';

const SEPARATOR = Buffer.of(0xff);
const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;
const STRIPE_BYTES = 32;

const HASHES = new WeakMap<Labels, bigint>();

/** Returns the hash, cached by the identity of the label set. */
export function streamHash(labels: Labels): bigint {
  let hash = HASHES.get(labels);
  if (hash === undefined) {
    const parts = labels.flatMap(({ name, value }) => [
      Buffer.from(name),
      SEPARATOR,
      Buffer.from(value),
      SEPARATOR,
    ]);
    hash = xxh64(Buffer.concat(parts));
    HASHES.set(labels, hash);
  }
  return hash;
}

export function xxh64(bytes: Buffer): bigint {
  const { length } = bytes;
  let at = 0;
  let hash = PRIME_5;
  if (length >= STRIPE_BYTES) {
    const lanes = [wrap(PRIME_1 + PRIME_2), PRIME_2, 0n, wrap(-PRIME_1)];
    for (; at + STRIPE_BYTES <= length; at += STRIPE_BYTES) {
      for (let lane = 0; lane < 4; lane++) {
        lanes[lane] = round(lanes[lane], bytes.readBigUInt64LE(at + 8 * lane));
      }
    }
    const [a, b, c, d] = lanes;
    hash = wrap(rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n));
    for (const lane of lanes) hash = wrap((hash ^ round(0n, lane)) * PRIME_1 + PRIME_4);
  }
  hash = wrap(hash + BigInt(length));
  for (; at + 8 <= length; at += 8) {
    hash = wrap(rotate(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * PRIME_1 + PRIME_4);
  }
  if (at + 4 <= length) {
    hash = wrap(rotate(hash ^ wrap(BigInt(bytes.readUInt32LE(at)) * PRIME_1), 23n) * PRIME_2 + PRIME_3);
    at += 4;
  }
  for (; at < length; at++) hash = wrap(rotate(hash ^ wrap(BigInt(bytes[at]) * PRIME_5), 11n) * PRIME_1);
  hash = wrap((hash ^ (hash >> 33n)) * PRIME_2);
  hash = wrap((hash ^ (hash >> 29n)) * PRIME_3);
  return hash ^ (hash >> 32n);
}

function round(lane: bigint, word: bigint): bigint {
  return wrap(rotate(wrap(lane + word * PRIME_2), 31n) * PRIME_1);
}

function rotate(value: bigint, bits: bigint): bigint {
  return wrap(value << bits) | (value >> (64n - bits));
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
