/**
 * Stretches of bytes that a search can look for 16 places at a time: each byte one value, or one of two (both cases of an
 * ASCII letter). A pattern that needs one of a few stretches is searched for by all of them side by side.
 */
import { MAX_DISTANCE } from '../../base/kernels/line-memory.ts';
import type { CharSet } from './char-set.ts';
import { partsOf, type RegexNode } from './syntax.ts';

export interface BytePattern {
  /** Byte of each place, and the other one that may stand there (the same where there is none). */
  readonly bytes: Uint8Array;
  readonly others: Uint8Array;
}

/** What one pass over the page looks for (byte-pattern-program.ts). */
const MAX_STRETCHES = 64;
/** Shorter ones stand in too many lines. */
const MIN_BYTES = 3;

export function patternOfNeedle(needle: Buffer): BytePattern {
  const bytes = Uint8Array.from(needle);
  return { bytes, others: bytes };
}

export interface RequiredStretches {
  /** Every match holds one of them. */
  readonly stretches: readonly BytePattern[];
  /** Each of them is a match. */
  readonly exact: boolean;
}

/** For a pattern without groups; undefined where it needs no stretch that is worth a search. */
export function requiredStretches(node: RegexNode): RequiredStretches | undefined {
  if (node.type === 'alternate') {
    const branches = node.nodes.map(requiredStretches);
    if (!branches.every(branch => branch !== undefined)) return undefined;
    const stretches = branches.flatMap(branch => branch.stretches);
    if (stretches.length > MAX_STRETCHES) return undefined;
    return { stretches, exact: branches.every(({ exact }) => exact) };
  }
  const parts = partsOf(node);
  const whole = longestPattern(parts);
  if (whole !== undefined) return { stretches: [whole], exact: whole.bytes.length === parts.length };
  // No stretch of its own: perhaps one of its parts needs one, as in `x*(abc|def)`.
  for (const part of parts) {
    const inside = part.type === 'alternate' ? requiredStretches(part) : undefined;
    if (inside !== undefined) return { ...inside, exact: inside.exact && parts.length === 1 };
  }
  return undefined;
}

function longestPattern(parts: readonly RegexNode[]): BytePattern | undefined {
  let best: (readonly [number, number])[] = [];
  let open: (readonly [number, number])[] = [];
  for (const part of parts) {
    const pair = part.type === 'chars' ? pairOf(part.set) : undefined;
    if (pair === undefined) open = [];
    else open.push(pair);
    if (open.length > best.length) best = [...open];
  }
  if (best.length < MIN_BYTES) return undefined;
  return { bytes: Uint8Array.from(best, pair => pair[0]), others: Uint8Array.from(best, pair => pair[1]) };
}

/** One or two ASCII characters; undefined for any other set. */
function pairOf(set: CharSet): readonly [number, number] | undefined {
  if (set.length === 2 && set[1] - set[0] <= 1 && set[1] < 0x80) return [set[0], set[1]];
  const isTwo = set.length === 4 && set[0] === set[1] && set[2] === set[3] && set[3] < 0x80;
  return isTwo ? [set[0], set[2]] : undefined;
}

/** Bytes of log lines from frequent to rare, roughly; what is not named is rarer than all. */
const FREQUENT = Buffer.from(' e0t1a"2io3ns4r5:67,8-9.hlcdump=/g_fwbvykxTqzj[]{}');
const RARITY = new Uint8Array(256).fill(255);
for (let i = 0; i < FREQUENT.length; i++) RARITY[FREQUENT[i]] = i;

/** The two places of a stretch of two bytes or more whose bytes are rarest, the first one first. */
export function rarestPlaces({ bytes, others }: BytePattern): readonly [number, number] {
  const rarity = (place: number) => Math.min(RARITY[bytes[place]], RARITY[others[place]]);
  const places = Array.from({ length: Math.min(bytes.length, MAX_DISTANCE + 1) }, (_, place) => place);
  const [a, b] = places.sort((p, q) => rarity(q) - rarity(p) || p - q);
  return a < b ? [a, b] : [b, a];
}
