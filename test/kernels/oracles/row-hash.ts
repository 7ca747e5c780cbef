/** Version of assembly/row-hash.ts that works line by line, with integers of any size. */
const MASK = 0xffff_ffff_ffff_ffffn;
const MASK_32 = 0xffff_ffffn;
/** Bits of 2^52 as a number of floating point. */
const TWO_TO_52_BITS = 0x4330_0000_0000_0000n;
const [K1, K2, K3, K4] = [0x9e3779b97f4a7c15n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0xd6e8feb86659fd93n];

const rotl = (value: bigint, bits: bigint) => ((value << bits) | (value >> (64n - bits))) & MASK;

function mix(hash: bigint, factor: bigint): bigint {
  const product = (hash * factor) & MASK;
  return product ^ (product >> 32n);
}

function settle(hash: bigint): bigint {
  const once = ((hash ^ (hash >> 32n)) * K4) & MASK;
  const twice = ((once ^ (once >> 29n)) * K1) & MASK;
  return twice ^ (twice >> 32n);
}

/** Hash of a row with this line and time, from the hash of its other columns. */
export function hashOf(before: bigint, timeNs: bigint, line: Buffer): bigint {
  const { length } = line;
  const seed = ((before ^ (((timeNs + TWO_TO_52_BITS) * K1) & MASK)) + BigInt(length) * K3) & MASK;
  const word = (at: number) => line.readBigUInt64LE(at);
  if (length === 0) return settle(seed);
  if (length < 8)
    return settle(mix(seed ^ Buffer.concat([Buffer.alloc(8 - length), line]).readBigUInt64LE(), K2));
  if (length < 16) return settle(mix(mix(seed ^ word(0), K1) ^ word(length - 8), K2));
  const sums = [0n, 0n, 0n, 0n];
  const keys = [K1 & MASK_32, K1 >> 32n, K2 & MASK_32, K2 >> 32n];
  const steps = [K3 & MASK_32, K3 >> 32n, K4 & MASK_32, K4 >> 32n];
  const add = (first: number, second: number) => {
    for (const [i, key] of keys.entries()) {
      const a = (BigInt(line.readUInt32LE(first + 4 * i)) + key) & MASK_32;
      sums[i] = (sums[i] + a * (BigInt(line.readUInt32LE(second + 4 * i)) ^ key)) & MASK;
      keys[i] = (key + steps[i]) & MASK_32;
    }
  };
  for (let at = 0; at + 32 < length; at += 32) add(at, at + 16);
  add(Math.max(0, length - 32), length - 16);
  const [a, b, c, d] = sums;
  return settle(mix(seed ^ a ^ rotl(d, 31n), K2) ^ mix(b ^ rotl(c, 31n), K1));
}
