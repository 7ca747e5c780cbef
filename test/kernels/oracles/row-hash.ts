/** Version of assembly/row-hash.ts that works line by line, with integers of any size. */
const MASK = 0xffff_ffff_ffff_ffffn;
const [K1, K2, K3, K4] = [0x9e3779b97f4a7c15n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0xd6e8feb86659fd93n];

const rotl = (value: bigint, bits: bigint) => ((value << bits) | (value >> (64n - bits))) & MASK;

function mix(hash: bigint, factor: bigint): bigint {
  const product = (hash * factor) & MASK;
  return product ^ (product >> 29n);
}

/** The hash of a line behind what its row gave. */
export function hashOf(before: bigint, line: Buffer): bigint {
  const seed = before ^ ((BigInt(line.length) * K3) & MASK);
  const lanes = [seed, seed ^ K2, seed ^ K3, seed ^ K4];
  const words = Math.floor(line.length / 8);
  let at = 0;
  for (; at + 4 <= words; at += 4) {
    for (const [i, factor] of [K1, K2, K3, K4].entries()) {
      lanes[i] = mix(lanes[i] ^ line.readBigUInt64LE(8 * (at + i)), factor);
    }
  }
  let [a] = lanes;
  if (at > 0) a = mix(a ^ rotl(lanes[1], 17n), K2) ^ mix(lanes[2] ^ rotl(lanes[3], 31n), K1);
  for (; at < words; at++) a = mix(a ^ line.readBigUInt64LE(8 * at), K1);
  const rest = Buffer.alloc(8);
  line.copy(rest, 8 - (line.length - 8 * words), 8 * words);
  if (line.length > 8 * words) a = mix(a ^ rest.readBigUInt64LE(0), K2);
  const once = ((a ^ (a >> 32n)) * K4) & MASK;
  const twice = ((once ^ (once >> 29n)) * K1) & MASK;
  return twice ^ (twice >> 32n);
}
