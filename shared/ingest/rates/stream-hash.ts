/**
 * Streams as numbers below 2^53, the same in every process: a million of them share a number with a chance of one in
 * 18,000, and then one is not counted, or shares a bucket. Nothing is stored under it. Who makes two streams collide on
 * purpose escapes no limit of others.
 *
 * Two multiplicative hashes of 32 bits over the text's UTF-16 units, mixed at the end: a hash from node:crypto takes ten
 * times as long for a usual stream, and decoders of JSON make each stream anew.
 */
const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca6b;
const MIX = 0xc2b2ae35;
const HIGH_BITS = 0x1fffff;

export function hashOfStream(text: string): number {
  let a = text.length;
  let b = FIRST;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul((a << 5) ^ (a >>> 27) ^ unit, FIRST);
    b = Math.imul((b << 13) ^ (b >>> 19) ^ unit, SECOND);
  }
  a = Math.imul(a ^ (a >>> 15) ^ b, MIX);
  b = Math.imul(b ^ (b >>> 13) ^ a, SECOND);
  a ^= a >>> 16;
  b ^= b >>> 16;
  return (a & HIGH_BITS) * 2 ** 32 + (b >>> 0);
}
