/**
 * Writes a syntax tree as a V8 regular expression that means the same as in Go.
 *
 * V8's flags and classes differ and are not used: `i` folds other letters, `m` recognizes more line ends,
 * `\d` and `\w` change with `i` and `u`. The tree has plain sets instead. Only the flag `u` is needed, which
 * makes one unit one code point.
 */
import { type CharSet, MAX_CODE_POINT } from './char-set.ts';
import { type AssertionKind, isNullable, type RegexNode } from './syntax.ts';

/** Maximum number of sets and copies in total; V8 compiles a pattern of this size in a few milliseconds. */
const MAX_WEIGHT = 20_000;

/** Returns the source for `new RegExp(source, 'u')`, or undefined if V8 cannot express the pattern. */
export function toV8(node: RegexNode): string | undefined {
  return weightOf(node) <= MAX_WEIGHT && meansTheSame(node) ? write(node, setSource) : undefined;
}

/**
 * Returns the source for `new RegExp(source)` on text whose units are the bytes of UTF-8. Returns undefined
 * if a set contains U+FFFD, or too many characters above ASCII to list.
 */
export function toByteV8(node: RegexNode): string | undefined {
  return isByteExact(node) && weightOf(node) <= MAX_WEIGHT && meansTheSame(node)
    ? write(node, byteSetSource)
    : undefined;
}

const ASSERTION_SOURCE: Record<AssertionKind, string> = {
  textStart: '^',
  textEnd: '$',
  lineStart: '(?<![^\\n])',
  lineEnd: '(?![^\\n])',
  wordBoundary: '\\b',
  notWordBoundary: '\\B',
};

function write(node: RegexNode, writeSet: (set: CharSet) => string): string {
  switch (node.type) {
    case 'empty':
      return '(?:)';
    case 'chars':
      return writeSet(node.set);
    case 'assertion':
      return ASSERTION_SOURCE[node.kind];
    case 'group':
      return `(${write(node.node, writeSet)})`;
    case 'repeat':
      return `(?:${write(node.node, writeSet)})${countSource(node.min, node.max)}${node.greedy ? '' : '?'}`;
    case 'concat':
      return node.nodes.map(part => write(part, writeSet)).join('');
    case 'alternate':
      return `(?:${node.nodes.map(branch => write(branch, writeSet)).join('|')})`;
  }
}

function countSource(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function setSource(set: CharSet): string {
  if (set.length === 2 && set[0] === set[1]) return charSource(set[0]);
  if (set.length === 0) return '[]';
  const negated = set[0] === 0 && set[set.length - 1] === MAX_CODE_POINT;
  const pairs = negated ? set.slice(1, -1) : set;
  let source = negated ? '[^' : '[';
  for (let i = 0; i < pairs.length; i += 2) {
    // The gaps between the pairs of a set are the pairs of its complement.
    const low = negated ? pairs[i] + 1 : pairs[i];
    const high = negated ? pairs[i + 1] - 1 : pairs[i + 1];
    source += low === high ? charSource(low) : `${charSource(low)}-${charSource(high)}`;
  }
  return source + ']';
}

function charSource(codePoint: number): string {
  const char = String.fromCodePoint(codePoint);
  return /^[0-9A-Za-z_ ]$/.test(char) ? char : `\\u{${codePoint.toString(16)}}`;
}

/** Maximum number of listed characters: case folding adds at most three above ASCII to a letter. */
const MAX_CHARS_ABOVE_ASCII = 8;

const REPLACEMENT_CHAR = 0xfffd;

/** Returns whether every set can be written as bytes and cannot match an invalid byte. */
export function isByteExact(node: RegexNode): boolean {
  switch (node.type) {
    case 'chars':
      return charsAboveAscii(node.set) !== undefined;
    case 'group':
    case 'repeat':
      return isByteExact(node.node);
    case 'concat':
    case 'alternate':
      return node.nodes.every(isByteExact);
    case 'assertion':
      return false;
    default:
      return true;
  }
}

function charsAboveAscii(set: CharSet): number[] | undefined {
  const chars: number[] = [];
  for (let i = 0; i < set.length; i += 2) {
    for (let code = Math.max(0x80, set[i]); code <= set[i + 1]; code++) {
      const isSurrogate = code >= 0xd800 && code <= 0xdfff;
      if (chars.length === MAX_CHARS_ABOVE_ASCII || code === REPLACEMENT_CHAR || isSurrogate)
        return undefined;
      chars.push(code);
    }
  }
  return chars;
}

function byteSetSource(set: CharSet): string {
  const ascii: number[] = [];
  for (let i = 0; i < set.length && set[i] < 0x80; i += 2) ascii.push(set[i], Math.min(0x7f, set[i + 1]));
  const ways: string[] = [];
  for (let i = 0; i < ascii.length; i += 2) ways.push(`${byteSource(ascii[i])}-${byteSource(ascii[i + 1])}`);
  const sources = ways.length > 0 ? [`[${ways.join('')}]`] : [];
  for (const codePoint of charsAboveAscii(set)!) {
    sources.push([...Buffer.from(String.fromCodePoint(codePoint))].map(byteSource).join(''));
  }
  if (sources.length === 0) return '[]';
  return sources.length === 1 ? sources[0] : `(?:${sources.join('|')})`;
}

function byteSource(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/**
 * Returns false for the shapes on which V8 and Go disagree. One is an iteration that reads no text: V8 resets
 * its groups. The other is a group that an iteration may skip: V8 clears it, Go preserves the last value.
 */
function meansTheSame(node: RegexNode): boolean {
  switch (node.type) {
    case 'group':
      return meansTheSame(node.node);
    case 'repeat':
      if (isNullable(node.node) || !meansTheSame(node.node)) return false;
      return node.max <= 1 || !hasOptionalGroup(node.node, false);
    case 'concat':
    case 'alternate':
      return node.nodes.every(meansTheSame);
    default:
      return true;
  }
}

function hasOptionalGroup(node: RegexNode, optional: boolean): boolean {
  switch (node.type) {
    case 'group':
      return optional || hasOptionalGroup(node.node, optional);
    case 'repeat':
      return hasOptionalGroup(node.node, optional || node.min === 0);
    case 'concat':
      return node.nodes.some(part => hasOptionalGroup(part, optional));
    case 'alternate':
      return node.nodes.some(branch => hasOptionalGroup(branch, true));
    default:
      return false;
  }
}

function weightOf(node: RegexNode): number {
  switch (node.type) {
    case 'chars':
      return 1 + node.set.length;
    case 'group':
      return weightOf(node.node);
    case 'repeat': {
      const copies = node.max === Number.POSITIVE_INFINITY ? node.min : node.max;
      return 1 + weightOf(node.node) * Math.max(1, copies);
    }
    case 'concat':
    case 'alternate':
      return node.nodes.reduce((total, part) => total + weightOf(part), 0);
    default:
      return 1;
  }
}
