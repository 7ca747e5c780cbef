/** Version of assembly/row-hash.ts that works line by line, with integers of any size. */
const MASK = 0xffff_ffff_ffff_ffffn;
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

/** Hash of a row with this line, from the hash of its other columns. */
export function hashOf(before: bigint, line: Buffer): bigint {
  const { length } = line;
  const seed = before ^ ((BigInt(length) * K3) & MASK);
  const word = (at: number) => line.readBigUInt64LE(at);
  if (length === 0) return settle(seed);
  if (length < 8)
    return settle(mix(seed ^ Buffer.concat([Buffer.alloc(8 - length), line]).readBigUInt64LE(), K2));
  if (length < 16) return settle(mix(mix(seed ^ word(0), K1) ^ word(length - 8), K2));
  const lanes = [seed, seed ^ K2, seed ^ K3, seed ^ K4];
  const add = (words: readonly bigint[]) => {
    for (const [i, factor] of [K1, K2, K3, K4].entries()) lanes[i] = mix(lanes[i] ^ words[i], factor);
  };
  for (let at = 0; at + 32 < length; at += 32) add([word(at), word(at + 8), word(at + 16), word(at + 24)]);
  const last = Math.max(0, length - 32);
  add([word(last), word(last + 8), word(length - 16), word(length - 8)]);
  const [a, b, c, d] = lanes;
  return settle(mix(a ^ rotl(b, 17n), K2) ^ mix(c ^ rotl(d, 31n), K1));
}
