/**
 * Derives properties of every text that a pattern matches: required literals, the finite list of all matches,
 * and the most selective part for a search over raw bytes.
 */
import { type CharSet, size } from './char-set.ts';
import { concat, EMPTY_NODE, isNullable, partsOf, type RegexNode } from './syntax.ts';
import { isByteExact } from './translate.ts';

/**
 * Literal that every matching text contains. With `foldCase`, the bytes are lower case, and ASCII letters of
 * the text are compared in lower case.
 */
export interface RequiredLiteral {
  readonly bytes: Buffer;
  readonly foldCase: boolean;
}

/** Returns the longest literal of the pattern. At equal length, the case-sensitive one wins. */
export function requiredLiteralOf(node: RegexNode): RequiredLiteral | undefined {
  const exact = longestLiteral(node, exactChar);
  const folded = longestLiteral(node, foldedChar);
  if (exact.length === 0 && folded.length === 0) return undefined;
  return folded.length > exact.length ? { bytes: folded, foldCase: true } : { bytes: exact, foldCase: false };
}

/** Returns the longest case-sensitive literal, empty if there is none. */
export function longestExactLiteral(node: RegexNode): Buffer {
  return longestLiteral(node, exactChar);
}

/** Returns the text of a pattern that consists of one literal. */
export function wholeLiteral(node: RegexNode): string | undefined {
  let text = '';
  for (const part of partsOf(node)) {
    const char = exactChar(part);
    if (char === undefined) return undefined;
    text += char;
  }
  return text;
}

function longestLiteral(node: RegexNode, charOf: (part: RegexNode) => string | undefined): Buffer {
  let longest: Buffer = Buffer.alloc(0);
  for (const run of requiredRuns(node)) {
    let text = '';
    for (const part of [...partsOf(run), EMPTY_NODE]) {
      const char = charOf(part);
      if (char !== undefined) text += char;
      else {
        const bytes = Buffer.from(text);
        if (bytes.length > longest.length) longest = bytes;
        text = '';
      }
    }
  }
  return longest;
}

/** Returns the only character of a set, if no invalid byte can match it. */
function exactChar(node: RegexNode): string | undefined {
  if (node.type !== 'chars' || node.set.length !== 2 || node.set[0] !== node.set[1]) return undefined;
  return isByteExact(node) ? String.fromCodePoint(node.set[0]) : undefined;
}

/**
 * Returns the lower-case character of a set with both cases of an ASCII letter, or any other ASCII character.
 * Excludes `k` and `s`, which have relatives outside ASCII.
 */
function foldedChar(node: RegexNode): string | undefined {
  if (node.type !== 'chars') return undefined;
  const { set } = node;
  const isLetter = (code: number) => code >= 0x61 && code <= 0x7a;
  if (set.length === 2 && set[0] === set[1] && set[0] < 0x80 && !isLetter(set[0] | 0x20)) {
    return String.fromCharCode(set[0]);
  }
  const isPair = set.length === 4 && set[0] === set[1] && set[2] === set[3] && set[2] === set[0] + 32;
  return isPair && isLetter(set[2]) ? String.fromCharCode(set[2]) : undefined;
}

/**
 * Returns parts without loops and assertions; each occurs in every match. They are byte-exact: a search for
 * their bytes needs no decoding.
 */
export function requiredRuns(node: RegexNode): RegexNode[] {
  const runs: RegexNode[] = [];
  let open: RegexNode[] = [];
  const closeRun = () => {
    if (open.length > 0) runs.push(concat(open));
    open = [];
  };
  for (const part of partsOf(node)) {
    const loop = part.type === 'repeat' && part.max === Number.POSITIVE_INFINITY;
    if (loop) {
      // `xa+y` contains `xa` and `ay`.
      const once = part.min > 0 && isBounded(part.node) && isByteExact(part.node);
      const least: RegexNode = { ...part, max: part.min };
      if (once) open.push(least);
      closeRun();
      if (once) open.push(least);
    } else if (isBounded(part) && isByteExact(part)) open.push(part);
    else closeRun();
  }
  closeRun();
  return runs.map(unrolled);
}

/** Expands small exact counts, so that `a{3}b` shows the literal `aaab`. */
export function unrolled(run: RegexNode): RegexNode {
  return concat(
    partsOf(run).flatMap(part =>
      part.type === 'repeat' && part.min === part.max && part.min <= MAX_UNROLLED
        ? new Array<RegexNode>(part.min).fill(part.node)
        : [part],
    ),
  );
}

const MAX_UNROLLED = 8;

/** Returns whether matches of the node have a maximum length. */
function isBounded(node: RegexNode): boolean {
  switch (node.type) {
    case 'assertion':
      return false;
    case 'group':
      return isBounded(node.node);
    case 'repeat':
      return node.max !== Number.POSITIVE_INFINITY && isBounded(node.node);
    case 'concat':
    case 'alternate':
      return node.nodes.every(isBounded);
    default:
      return true;
  }
}

/**
 * Returns the rarest run, judged by its least selective match. Returns undefined if none is worth a search.
 */
export function mostSelectiveRun(runs: readonly RegexNode[]): RegexNode | undefined {
  let best: RegexNode | undefined;
  let bestBits = MIN_SELECTIVE_BITS;
  for (const run of runs) {
    const bits = selectivity(run);
    if (bits > bestBits) {
      best = run;
      bestBits = bits;
    }
  }
  return best;
}

/**
 * Minimum selectivity, equal to two letters or three digits. Less selective runs occur in nearly every line.
 */
const MIN_SELECTIVE_BITS = 8;

/** Estimates the selectivity in bits: 6 for a character, 3 for a digit, the minimum of alternatives. */
function selectivity(node: RegexNode): number {
  switch (node.type) {
    case 'chars':
      return bitsOfSet(node.set);
    case 'group':
      return selectivity(node.node);
    case 'repeat':
      return node.min * selectivity(node.node);
    case 'concat':
      return node.nodes.reduce((total, part) => total + selectivity(part), 0);
    case 'alternate':
      return Math.min(...node.nodes.map(selectivity)) - Math.log2(node.nodes.length);
    default:
      return 0;
  }
}

/** Estimates the selectivity of one character, in bits. */
export function bitsOfSet(set: CharSet): number {
  return Math.max(0, 6 - Math.log2(Math.max(1, size(set))));
}

/** Maximum size of a list of matches; larger ones are tested with the pattern. */
const MAX_SET_MATCHES = 1_000;

/**
 * Returns all texts that the node matches, if they are at most `MAX_SET_MATCHES`. Returns undefined if
 * assertions occur.
 */
export function finiteMatches(node: RegexNode): string[] | undefined {
  const texts = listMatches(node);
  return texts === undefined ? undefined : [...new Set(texts)];
}

function listMatches(node: RegexNode): string[] | undefined {
  switch (node.type) {
    case 'empty':
      return [''];
    case 'chars': {
      if (size(node.set) > MAX_SET_MATCHES) return undefined;
      const chars: string[] = [];
      for (let i = 0; i < node.set.length; i += 2) {
        for (let code = node.set[i]; code <= node.set[i + 1]; code++) chars.push(String.fromCodePoint(code));
      }
      return chars;
    }
    case 'assertion':
      return undefined;
    case 'group':
      return listMatches(node.node);
    case 'repeat': {
      if (node.max > MAX_UNROLLED || isNullable(node.node)) return undefined;
      const copies: RegexNode[] = new Array(node.max).fill(node.node);
      const lists = copies.map((_, i) => (i >= node.min - 1 ? concat(copies.slice(0, i + 1)) : undefined));
      const counted = lists.filter(list => list !== undefined);
      return joinLists(node.min === 0 ? [EMPTY_NODE, ...counted] : counted);
    }
    case 'concat': {
      let texts: string[] = [''];
      for (const part of node.nodes) {
        const next = listMatches(part);
        if (next === undefined || texts.length * next.length > MAX_SET_MATCHES) return undefined;
        texts = texts.flatMap(head => next.map(tail => head + tail));
      }
      return texts;
    }
    case 'alternate':
      return joinLists(node.nodes);
  }
}

function joinLists(nodes: readonly RegexNode[]): string[] | undefined {
  const all: string[] = [];
  for (const node of nodes) {
    const texts = listMatches(node);
    if (texts === undefined || all.length + texts.length > MAX_SET_MATCHES) return undefined;
    all.push(...texts);
  }
  return all;
}
