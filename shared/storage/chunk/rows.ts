/** Input of the chunk writer: rows of one tenant and day, sorted by (stream, timestamp), each entry once. */
import type { Stream } from '../../base/model/page.ts';

export interface ChunkRows {
  /** Streams, ascending by text, each once. */
  readonly streams: readonly Stream[];
  readonly rows: number;
  /** Index into `streams` for each row; ascending. */
  readonly streamOf: Uint32Array;
  /** Time of each row, ns since the start of the day; ascending within a stream. */
  readonly times: Float64Array;
  /** Location of each row's line: `sources[sourceOf[row]][lineStart[row], lineEnd[row])`. */
  readonly sources: readonly Buffer[];
  readonly sourceOf: Uint16Array;
  readonly lineStart: Uint32Array;
  readonly lineEnd: Uint32Array;
  /** Metadata names and values, each once; pairs refer to them. */
  readonly names: readonly string[];
  readonly values: readonly Buffer[];
  /** Pairs of row i are `firstPair[i]` to `firstPair[i + 1] - 1`; a row has each name at most once. */
  readonly firstPair: Uint32Array;
  readonly pairName: Uint32Array;
  readonly pairValue: Uint32Array;
}

/**
 * Metadata pairs of rows, numbered so that equal texts are equal numbers. Pairs of row i are `first[i]` to
 * `first[i + 1] - 1`.
 */
export interface PairColumns {
  readonly first: Uint32Array;
  readonly name: Uint32Array;
  readonly value: Uint32Array;
}

/** Returns whether two rows have the same pairs, in any order. A row has each name at most once. */
export function samePairs({ first, name, value }: PairColumns, a: number, b: number): boolean {
  if (first[a + 1] - first[a] !== first[b + 1] - first[b]) return false;
  for (let x = first[a]; x < first[a + 1]; x++) {
    let found = false;
    for (let y = first[b]; y < first[b + 1] && !found; y++)
      found = name[x] === name[y] && value[x] === value[y];
    if (!found) return false;
  }
  return true;
}
