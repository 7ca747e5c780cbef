/**
 * A group of similar lines with one structure: the words that all of them share, and the positions where they
 * differ. A cluster only becomes wider, so every line that it counted matches it permanently.
 */
import { isUtf8 } from 'node:buffer';
import { type LineWords, WORD_ANY, WORD_TEXT } from '../../base/kernels/line-words.ts';
import { PLACEHOLDER_BYTE } from './byte-classes.ts';

const NAME_BYTES = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export interface Cluster {
  readonly id: number;
  readonly group: number;
  /** First line: its gaps and words, with one byte for each word that is always a placeholder. */
  readonly bytes: Buffer;
  readonly start: Uint16Array;
  readonly end: Uint16Array;
  readonly hash: Uint32Array;
  readonly kind: Uint8Array;
  /** 1 if all lines have the word. */
  readonly fixed: Uint8Array;
  lines: number;
}

export function newCluster(id: number, words: LineWords): Cluster {
  const { source, first, count } = words;
  const start = new Uint16Array(count);
  const end = new Uint16Array(count);
  const fixed = new Uint8Array(count);
  let length = words.to - words.from;
  for (let i = 0; i < count; i++) {
    if (words.kind[first + i] === WORD_ANY) length -= words.end[first + i] - words.start[first + i] - 1;
  }
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  let from = words.from;
  for (let i = 0; i < count; i++) {
    at += source.copy(bytes, at, from, words.start[first + i]);
    start[i] = at;
    if (words.kind[first + i] === WORD_ANY) bytes[at++] = PLACEHOLDER_BYTE;
    else {
      at += source.copy(bytes, at, words.start[first + i], words.end[first + i]);
      fixed[i] = mayBeFixed(words, i) ? 1 : 0;
    }
    end[i] = at;
    from = words.end[first + i];
  }
  source.copy(bytes, at, from, words.to);
  const hash = words.hash.slice(first, first + count);
  // Copied: `slice` of a Buffer shares the memory of the kernel.
  const kind = new Uint8Array(words.kind.subarray(first, first + count));
  return { id, group: words.group, bytes, start, end, hash, kind, fixed, lines: 0 };
}

/**
 * True if the line has the cluster's gaps and fixed words. Values that differ become variable. False only for
 * lines with colliding shapes.
 */
export function matchesKnown(cluster: Cluster, words: LineWords): boolean {
  const { bytes, start, end, fixed, kind } = cluster;
  const { source, first, count } = words;
  if (count !== fixed.length) return false;
  let at = 0;
  let from = words.from;
  for (let i = 0; i < count; i++) {
    const gap = start[i] - at;
    if (words.start[first + i] - from !== gap) return false;
    for (let j = 0; j < gap; j++) if (bytes[at + j] !== source[from + j]) return false;
    if (fixed[i] === 1 && !isSameWord(cluster, words, i)) {
      if (kind[i] === WORD_TEXT) return false;
      fixed[i] = 0;
    }
    at = end[i];
    from = words.end[first + i];
  }
  return isSameEnd(cluster, words, at, from);
}

/** True if all gaps are equal. */
export function hasGaps(cluster: Cluster, words: LineWords): boolean {
  const { bytes, start, end } = cluster;
  const { source, first, count } = words;
  if (count !== start.length) return false;
  let at = 0;
  let from = words.from;
  for (let i = 0; i < count; i++) {
    const gap = start[i] - at;
    if (words.start[first + i] - from !== gap) return false;
    for (let j = 0; j < gap; j++) if (bytes[at + j] !== source[from + j]) return false;
    at = end[i];
    from = words.end[first + i];
  }
  return isSameEnd(cluster, words, at, from);
}

/** Makes words that differ variable. The line must have the cluster's gaps. */
export function widen(cluster: Cluster, words: LineWords): void {
  const { fixed } = cluster;
  for (let i = 0; i < fixed.length; i++) {
    if (fixed[i] === 1 && !isSameWord(cluster, words, i)) fixed[i] = 0;
  }
}

/** Bytes of the cluster's template, with placeholders for variable words. */
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

function isSameWord({ bytes, start, end }: Cluster, words: LineWords, i: number): boolean {
  const { source } = words;
  const word = words.first + i;
  const a = start[i];
  const b = words.start[word];
  const length = end[i] - a;
  if (words.end[word] - b !== length) return false;
  for (let j = 0; j < length; j++) if (bytes[a + j] !== source[b + j]) return false;
  return true;
}

function isSameEnd({ bytes }: Cluster, { source, to }: LineWords, at: number, from: number): boolean {
  const rest = bytes.length - at;
  if (to - from !== rest) return false;
  for (let j = 0; j < rest; j++) if (bytes[at + j] !== source[from + j]) return false;
  return true;
}

/**
 * False for words that a pattern cannot express: bytes that are not valid UTF-8 cannot be written as text,
 * and a name in angle brackets would be a placeholder.
 */
function mayBeFixed({ source, first: firstWord, start, end, from, to }: LineWords, i: number): boolean {
  const [first, last] = [start[firstWord + i], end[firstWord + i]];
  if (first > from && source[first - 1] === 0x3c && last < to && source[last] === 0x3e) {
    if (NAME_BYTES.test(source.latin1Slice(first, last))) return false;
  }
  for (let at = first; at < last; at++) {
    if (source[at] >= 0x80) return isUtf8(source.subarray(first, last));
  }
  return true;
}
