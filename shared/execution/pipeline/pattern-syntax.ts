/**
 * Syntax of patterns: literals and captures, `<name>` or `<_>`. All other text in angle brackets is literal
 * (docs/dev/logql-semantics.md#pattern). Used by the pattern parser and by the line filters `|>` and `!>`.
 */
import { wellFormedPrefix } from '../../base/model/byte-text.ts';

type PatternNode =
  | { readonly kind: 'literal'; readonly bytes: Buffer }
  /** Capture; `name` is `_` if it has no name. */
  | { readonly kind: 'capture'; readonly name: string };

const CAPTURE = /<([a-zA-Z_][a-zA-Z0-9_]*)>/g;

/** Parses a pattern, which ends before its first byte that is not UTF-8. */
export function parsePattern(given: string): PatternNode[] {
  const text = wellFormedPrefix(given);
  const nodes: PatternNode[] = [];
  let at = 0;
  for (const match of text.matchAll(CAPTURE)) {
    if (match.index > at) nodes.push(literal(text.slice(at, match.index)));
    nodes.push({ kind: 'capture', name: match[1] });
    at = match.index + match[0].length;
  }
  if (at < text.length) nodes.push(literal(text.slice(at)));
  return nodes;
}

/** Pattern as a search for captures. */
interface PatternParts {
  /** Text at the start of each line that has captures; empty if there is none. */
  readonly lead: Buffer;
  /** Name of each capture, `_` if it has no name. */
  readonly names: readonly string[];
  /** Literal i ends capture i; the last capture may have no literal. */
  readonly literals: readonly Buffer[];
}

/** Returns the parts of a pattern without adjacent captures. */
export function patternParts(nodes: readonly PatternNode[]): PatternParts {
  const [first] = nodes;
  const lead = first?.kind === 'literal' ? first.bytes : Buffer.alloc(0);
  const names: string[] = [];
  const literals: Buffer[] = [];
  for (const node of nodes) {
    if (node.kind === 'capture') names.push(node.name);
    else if (names.length > 0) literals.push(node.bytes);
  }
  return { lead, names, literals };
}

function literal(text: string): PatternNode {
  return { kind: 'literal', bytes: Buffer.from(text) };
}

/**
 * Refuses adjacent captures, because their border is ambiguous. Throws an Error with the reference's text.
 */
export function refuseConsecutiveCaptures(nodes: readonly PatternNode[]): void {
  for (let i = 1; i < nodes.length; i++) {
    const a = nodes[i - 1];
    const b = nodes[i];
    if (a.kind === 'capture' && b.kind === 'capture') {
      throw new Error(`found consecutive capture '<${a.name}><${b.name}>': invalid expression`);
    }
  }
}

/**
 * Maximum needle for a simple loop. For longer ones, Buffer.indexOf avoids comparing every byte of the needle
 * at each offset.
 */
const MAX_SIMPLE_NEEDLE = 32;

/** Returns the first offset of `needle` in a byte range, or -1. */
export function indexOfBytes(source: Buffer, start: number, end: number, needle: Buffer): number {
  const length = needle.length;
  const last = end - length;
  if (length === 0) return start <= end ? start : -1;
  if (length > MAX_SIMPLE_NEEDLE) {
    const found = source.subarray(start, end).indexOf(needle);
    return found < 0 ? -1 : start + found;
  }
  const first = needle[0];
  for (let at = start; at <= last; at++) {
    if (source[at] !== first) continue;
    let i = 1;
    while (i < length && source[at + i] === needle[i]) i++;
    if (i === length) return at;
  }
  return -1;
}
