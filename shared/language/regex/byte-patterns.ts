/**
 * Byte patterns that a search can find at 16 positions at a time. Each byte has one value, or one of two
 * (both cases of an ASCII letter). A regular expression that requires one of a few byte patterns is searched
 * for with all of them in parallel.
 */
import type { BytePattern } from '../../base/model/byte-pattern.ts';
import type { CharSet } from './char-set.ts';
import { partsOf, type RegexNode } from './syntax.ts';

/** Maximum number of patterns in one pass over the page (byte-pattern-program.ts). */
const MAX_PATTERNS = 64;
/** Minimum length. Shorter patterns occur in too many lines. */
const MIN_BYTES = 3;

export function patternOfNeedle(needle: Buffer): BytePattern {
  const bytes = Uint8Array.from(needle);
  return { bytes, others: bytes };
}

interface RequiredBytePatterns {
  /** Byte patterns of which every match contains at least one. */
  readonly patterns: readonly BytePattern[];
  /** Whether each occurrence of a byte pattern is a match. */
  readonly exact: boolean;
}

/**
 * Returns the byte patterns that a regular expression without groups requires. Returns undefined if none is
 * worth a search.
 */
export function requiredBytePatterns(node: RegexNode): RequiredBytePatterns | undefined {
  if (node.type === 'alternate') {
    const branches = node.nodes.map(requiredBytePatterns);
    if (!branches.every(branch => branch !== undefined)) return undefined;
    const patterns = branches.flatMap(branch => branch.patterns);
    if (patterns.length > MAX_PATTERNS) return undefined;
    return { patterns, exact: branches.every(({ exact }) => exact) };
  }
  const parts = partsOf(node);
  const whole = longestPattern(parts);
  if (whole !== undefined) return { patterns: [whole], exact: whole.bytes.length === parts.length };
  // If the expression itself requires no pattern, one of its parts may, as in `x*(abc|def)`.
  for (const part of parts) {
    const inside = part.type === 'alternate' ? requiredBytePatterns(part) : undefined;
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

/** Returns one or two ASCII characters, or undefined for any other set. */
function pairOf(set: CharSet): readonly [number, number] | undefined {
  if (set.length === 2 && set[1] - set[0] <= 1 && set[1] < 0x80) return [set[0], set[1]];
  const isTwo = set.length === 4 && set[0] === set[1] && set[2] === set[3] && set[3] < 0x80;
  return isTwo ? [set[0], set[2]] : undefined;
}
