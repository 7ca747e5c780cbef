/** What the chunk writer takes: rows of one tenant and day, sorted by (stream, timestamp), each entry once. */
import type { Stream } from '../model/page.ts';

export interface ChunkRows {
  /** Ascending by text, each once. */
  readonly streams: readonly Stream[];
  readonly rows: number;
  /** For each row, place in `streams`; ascending. */
  readonly streamOf: Uint32Array;
  /** For each row, ns since the start of the day; ascending inside a stream. */
  readonly times: Float64Array;
  /** Line of a row: `sources[sourceOf[row]][lineStart[row], lineEnd[row])`. */
  readonly sources: readonly Buffer[];
  readonly sourceOf: Uint16Array;
  readonly lineStart: Uint32Array;
  readonly lineEnd: Uint32Array;
  /** Metadata names and values, each once; pairs refer to them. */
  readonly names: readonly string[];
  readonly values: readonly Buffer[];
  /** The pairs of row i are `firstPair[i]` to `firstPair[i + 1] - 1`; a row has each name once. */
  readonly firstPair: Uint32Array;
  readonly pairName: Uint32Array;
  readonly pairValue: Uint32Array;
}
