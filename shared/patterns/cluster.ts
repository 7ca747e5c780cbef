/**
 * Lines of one structure that are alike: the words that all of them share, and places where they differ. A cluster only ever
 * becomes wider, so every line that was counted to it fits it for good.
 */
import { isUtf8 } from 'node:buffer';
import { PLACEHOLDER_BYTE } from './byte-classes.ts';
import { type LineTokens, WORD_ANY, WORD_TEXT } from './line-tokens.ts';

const NAME_BYTES = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export interface Cluster {
  readonly id: number;
  readonly group: number;
  /** The first line: gaps and words as they were, one byte for a word that is always a placeholder. */
  readonly bytes: Buffer;
  readonly start: Uint16Array;
  readonly end: Uint16Array;
  readonly hash: Int32Array;
  readonly kind: Uint8Array;
  /** 1 where all lines have the word. */
  readonly fixed: Uint8Array;
  lines: number;
}

export function newCluster(id: number, tokens: LineTokens): Cluster {
  const { source, count } = tokens;
  const start = new Uint16Array(count);
  const end = new Uint16Array(count);
  const fixed = new Uint8Array(count);
  let length = tokens.to - tokens.from;
  for (let i = 0; i < count; i++) {
    if (tokens.kind[i] === WORD_ANY) length -= tokens.end[i] - tokens.start[i] - 1;
  }
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  let from = tokens.from;
  for (let i = 0; i < count; i++) {
    at += source.copy(bytes, at, from, tokens.start[i]);
    start[i] = at;
    if (tokens.kind[i] === WORD_ANY) bytes[at++] = PLACEHOLDER_BYTE;
    else {
      at += source.copy(bytes, at, tokens.start[i], tokens.end[i]);
      fixed[i] = mayBeFixed(tokens, i) ? 1 : 0;
    }
    end[i] = at;
    from = tokens.end[i];
  }
  source.copy(bytes, at, from, tokens.to);
  const hash = tokens.hash.slice(0, count);
  const { group } = tokens;
  return { id, group, bytes, start, end, hash, kind: tokens.kind.slice(0, count), fixed, lines: 0 };
}

/**
 * True where the line has the cluster's gaps and fixed words; words of values that differ are no longer fixed then. False
 * only where shapes collide.
 */
export function takesKnown(cluster: Cluster, tokens: LineTokens): boolean {
  const { bytes, start, end, fixed, kind } = cluster;
  const { source, count } = tokens;
  if (count !== fixed.length) return false;
  let at = 0;
  let from = tokens.from;
  for (let i = 0; i < count; i++) {
    const gap = start[i] - at;
    if (tokens.start[i] - from !== gap) return false;
    for (let j = 0; j < gap; j++) if (bytes[at + j] !== source[from + j]) return false;
    if (fixed[i] === 1 && !isSameWord(cluster, tokens, i)) {
      if (kind[i] === WORD_TEXT) return false;
      fixed[i] = 0;
    }
    at = end[i];
    from = tokens.end[i];
  }
  return isSameEnd(cluster, tokens, at, from);
}

/** True where all gaps are equal. */
export function hasGaps(cluster: Cluster, tokens: LineTokens): boolean {
  const { bytes, start, end } = cluster;
  const { source, count } = tokens;
  if (count !== start.length) return false;
  let at = 0;
  let from = tokens.from;
  for (let i = 0; i < count; i++) {
    const gap = start[i] - at;
    if (tokens.start[i] - from !== gap) return false;
    for (let j = 0; j < gap; j++) if (bytes[at + j] !== source[from + j]) return false;
    at = end[i];
    from = tokens.end[i];
  }
  return isSameEnd(cluster, tokens, at, from);
}

/** Words that differ are no longer fixed. The line has the cluster's gaps. */
export function widen(cluster: Cluster, tokens: LineTokens): void {
  const { fixed } = cluster;
  for (let i = 0; i < fixed.length; i++) {
    if (fixed[i] === 1 && !isSameWord(cluster, tokens, i)) fixed[i] = 0;
  }
}

/** The bytes of the cluster's template: placeholders for the words that are not fixed. */
export function templateBytes({ bytes, start, end, fixed }: Cluster): Buffer {
  const template = Buffer.allocUnsafe(bytes.length);
  let to = 0;
  let from = 0;
  for (let i = 0; i < fixed.length; i++) {
    to += bytes.copy(template, to, from, fixed[i] === 1 ? end[i] : start[i]);
    if (fixed[i] === 0) template[to++] = PLACEHOLDER_BYTE;
    from = end[i];
  }
  to += bytes.copy(template, to, from);
  return template.subarray(0, to);
}

function isSameWord({ bytes, start, end }: Cluster, tokens: LineTokens, i: number): boolean {
  const { source } = tokens;
  const a = start[i];
  const b = tokens.start[i];
  const length = end[i] - a;
  if (tokens.end[i] - b !== length) return false;
  for (let j = 0; j < length; j++) if (bytes[a + j] !== source[b + j]) return false;
  return true;
}

function isSameEnd({ bytes }: Cluster, { source, to }: LineTokens, at: number, from: number): boolean {
  const rest = bytes.length - at;
  if (to - from !== rest) return false;
  for (let j = 0; j < rest; j++) if (bytes[at + j] !== source[from + j]) return false;
  return true;
}

/**
 * False for what a pattern cannot say: bytes that are no UTF-8 cannot be written as text, and a name in angle brackets would
 * be a placeholder.
 */
function mayBeFixed({ source, start, end, from, to }: LineTokens, i: number): boolean {
  const [first, last] = [start[i], end[i]];
  if (first > from && source[first - 1] === 0x3c && last < to && source[last] === 0x3e) {
    if (NAME_BYTES.test(source.latin1Slice(first, last))) return false;
  }
  for (let at = first; at < last; at++) {
    if (source[at] >= 0x80) return isUtf8(source.subarray(first, last));
  }
  return true;
}
