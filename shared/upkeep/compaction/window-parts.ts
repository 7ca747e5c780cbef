/**
 * Decides into how many parts of the streams (stream-part.ts) a merge of pushes divides its rows. Chunks of different parts are
 * merged independently afterwards, and a query of a few streams reads chunks of their parts only.
 *
 *     pushes of all streams --many functions--> chunks of parts 4, 5, 6, 7 --one function for each part--> larger chunks
 *
 * A merge has as many times more pushes as parts, so that its outputs have the same size. Writing 8 parts takes about 10% more CPU
 * time. Only tenants are divided that have enough pushes for several such merges at the same time.
 */
import { NS_OF_MINUTE } from '../../base/model/time-units.ts';
import { type ChunkRecord, streamPartOf } from '../../storage/catalog/chunk-record.ts';
import { commonPart, partAt, partBits, usualPartBits } from '../../storage/catalog/stream-part.ts';
import type { MergeSizes } from './merge-sizes.ts';

/**
 * Maximum number of parts. A merge of 97 pushes of 8 MB has 64 MiB of lines for each of 8, and writes as many objects at the same
 * time. More parts would make a query of all streams read more chunks of the same time.
 */
const MAX_PARTS = 8;
const WINDOW_NS = 5 * NS_OF_MINUTE;

export class WindowParts {
  readonly #sizes: MergeSizes;
  readonly #lineBytes = new Map<number, number>();

  /** @param records all chunks of the day */
  constructor(records: readonly ChunkRecord[], sizes: MergeSizes) {
    this.#sizes = sizes;
    for (const { last, lineBytes } of records) {
      const window = windowOf(last);
      this.#lineBytes.set(window, lineBytes + (this.#lineBytes.get(window) ?? 0));
    }
  }

  /**
   * Returns the number of parts for merges of the 5 minutes of a time, ns since the start of the day. The 5 minutes before count
   * too, because the latest have just begun.
   */
  mostAt(time: number): number {
    const window = windowOf(time);
    const bytesOf = (index: number) => this.#lineBytes.get(index) ?? 0;
    const lineBytes = Math.max(bytesOf(window), bytesOf(window - 1));
    return Math.min(MAX_PARTS, partsOf(lineBytes, this.#sizes.windowBytesOfPart));
  }

  /** Returns the number of parts for a merge of pushes and drafts. */
  of(inputs: readonly ChunkRecord[]): number {
    const [lineBytes, last] = inputs.reduce(
      ([bytes, latest], input) => [bytes + input.lineBytes, Math.max(latest, input.last)],
      [0, 0],
    );
    return Math.min(this.mostAt(last), partsOf(lineBytes, this.#sizes.mergeBytesOfPart));
  }
}

/**
 * Divides chunks to merge into groups, each of one part of the streams. If chunks have parts of several sizes, smaller ones join
 * the larger one that they are in, unless few chunks have larger ones. Chunks with more streams than the parts of the groups are
 * one more group.
 */
export function groupsByPart(records: readonly ChunkRecord[]): readonly ChunkRecord[][] {
  const bits = usualPartBits(records.map(streamPartOf));
  const groups = Map.groupBy(records, record => partAt(streamPartOf(record), bits));
  return [...groups].sort((a, b) => a[0] - b[0]).map(([, group]) => group);
}

/**
 * Returns the bits of the parts that a merge writes: of the part that all inputs have in common, or more.
 * @param parts number of parts that all streams are divided into
 */
export function outputBits(inputs: readonly ChunkRecord[], parts = 1): number {
  const common = commonPart(inputs.map(streamPartOf));
  return Math.max(partBits(common), Math.log2(parts));
}

function windowOf(time: number): number {
  return Math.floor(time / WINDOW_NS);
}

/** A power of two. */
function partsOf(lineBytes: number, bytesOfPart: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(lineBytes / bytesOfPart)));
}
