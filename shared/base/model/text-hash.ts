/**
 * Texts as numbers below 2^53, the same in every process, for counting and sharing: a million of them share a number with a
 * chance of one in 18,000. Nothing is stored under such a number, and whoever makes two texts collide on purpose
 * escapes no limit of others.
 *
 * Two multiplicative hashes of 32 bits over the text's UTF-16 units, mixed at the end: a hash from node:crypto takes ten
 * times as long for a usual stream. What a reader would get wrong: bytes outside of ASCII are not hashed as bytes, because
 * the text's UTF-16 units are, so their owner decodes them first.
 */
const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca6b;
const MIX = 0xc2b2ae35;
const HIGH_BITS = 0x1fffff;

export function hashOfText(text: string): number {
  let a = text.length;
  let b = FIRST;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul((a << 5) ^ (a >>> 27) ^ unit, FIRST);
    b = Math.imul((b << 13) ^ (b >>> 19) ^ unit, SECOND);
  }
  return joined(a, b);
}

/** The same for ASCII bytes; -1 where one of them is none. */
export function hashOfAscii(source: Uint8Array, start: number, end: number): number {
  let a = end - start;
  let b = FIRST;
  for (let i = start; i < end; i++) {
    const byte = source[i];
    if (byte >= 0x80) return -1;
    a = Math.imul((a << 5) ^ (a >>> 27) ^ byte, FIRST);
    b = Math.imul((b << 13) ^ (b >>> 19) ^ byte, SECOND);
  }
  return joined(a, b);
}

function joined(a: number, b: number): number {
  let high = Math.imul(a ^ (a >>> 15) ^ b, MIX);
  let low = Math.imul(b ^ (b >>> 13) ^ high, SECOND);
  high ^= high >>> 16;
  low ^= low >>> 16;
  return (high & HIGH_BITS) * 2 ** 32 + (low >>> 0);
}
