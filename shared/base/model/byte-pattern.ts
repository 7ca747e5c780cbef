/** Sequence of bytes, each of one value, or of one of two: mostly both cases of an ASCII letter. */
export interface BytePattern {
  /** Value of each byte, and its alternative. Both are equal if there is no alternative. */
  readonly bytes: Uint8Array;
  readonly others: Uint8Array;
}

/** Maximum distance between the two bytes of a pattern that are searched for. */
const MAX_DISTANCE = 255;

/** Bytes of log lines, roughly from frequent to rare. All other bytes are rarer. */
const FREQUENT = Buffer.from(' e0t1a"2io3ns4r5:67,8-9.hlcdump=/g_fwbvykxTqzj[]{}');
const RARITY = new Uint8Array(256).fill(255);
for (let i = 0; i < FREQUENT.length; i++) RARITY[FREQUENT[i]] = i;

/**
 * Returns the positions of the two rarest bytes of a pattern, in ascending order. The pattern has at least
 * two bytes.
 */
export function rarestOffsets({ bytes, others }: BytePattern): readonly [number, number] {
  const rarity = (offset: number) => Math.min(RARITY[bytes[offset]], RARITY[others[offset]]);
  const offsets = Array.from({ length: Math.min(bytes.length, MAX_DISTANCE + 1) }, (_, offset) => offset);
  const [a, b] = offsets.sort((p, q) => rarity(q) - rarity(p) || p - q);
  return a < b ? [a, b] : [b, a];
}
