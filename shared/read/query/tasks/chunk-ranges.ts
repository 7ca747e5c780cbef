/**
 * Cuts the chunks of a day into ranges that workers plan themselves: they read footers and text indexes,
 * count and scan. The query function then holds only the catalog's records, 2 MB per TB of lines, and not the
 * footers, which are gigabytes.
 *
 *     time     |--A--|--B--|--C--|--D--|
 *                             |--E--|
 *     ranges   [A B] [C E] [D]              E meets D too. It is a neighbor of [D], which drops its copies of E's entries
 *
 * The chunks of a range have one part of the streams (stream-part.ts), so chunks of the same time and other parts are no neighbors.
 */

import { type ChunkRecord, streamPartOf } from '../../../storage/catalog/chunk-record.ts';
import { shareStreams } from '../../../storage/catalog/stream-part.ts';
import { costOfChunk } from './task-cost.ts';

export interface ChunkRange {
  readonly own: readonly ChunkRecord[];
  /** Chunks of other ranges that share time and can share streams with this one. */
  readonly neighbors: readonly ChunkRecord[];
}

/** Maximum chunks of one range: a second for footers, 500 MB when decoded. */
export const MAX_CHUNKS = 128;

interface RangeSplit {
  /** Number of ranges, if there are enough chunks. */
  readonly count: number;
  /** Whether the ranges are in descending order of time. */
  readonly backward?: boolean;
  /** Whether the first range has one chunk, and each next one twice as many. For queries that may end early. */
  readonly grows?: boolean;
  readonly maxNeighbors: number;
  /** Maximum chunks of a range. */
  readonly maxChunks?: number;
  /** Maximum cost of a range of several chunks (`costOfChunk`). Default: no limit. */
  readonly maxCost?: number;
}

/** Returns the ranges in order of time, each of one part of the streams. Undefined if too many chunks share one time. */
export function chunkRanges(
  records: readonly ChunkRecord[],
  {
    count,
    backward = false,
    grows = false,
    maxNeighbors,
    maxChunks = MAX_CHUNKS,
    maxCost = Infinity,
  }: RangeSplit,
): ChunkRange[] | undefined {
  // Times are mirrored for the other direction.
  const startOf = ({ first, last }: ChunkRecord) => (backward ? -last : first);
  const endOf = ({ first, last }: ChunkRecord) => (backward ? -first : last);
  const byStart = (a: ChunkRecord, b: ChunkRecord) => startOf(a) - startOf(b) || (a.id < b.id ? -1 : 1);
  const sorted = records.toSorted(byStart);
  const maxSize = Math.min(maxChunks, Math.max(1, Math.ceil(sorted.length / count)));
  const ranges: ChunkRange[] = [];
  for (const [part, ofPart] of Map.groupBy(sorted, streamPartOf)) {
    const others = sorted.filter(one => shareStreams(streamPartOf(one), part));
    // Latest end of all chunks up to each index. No chunk before the first index that reaches a time reaches it.
    const reach: number[] = [];
    for (const record of others) reach.push(Math.max(endOf(record), reach.at(-1) ?? -Infinity));
    let size = grows ? 1 : maxSize;
    let at = 0;
    for (let from = 0; from < ofPart.length; ) {
      const own = cheapest(ofPart.slice(from, from + size), maxCost);
      const start = startOf(own[0]);
      const end = Math.max(...own.map(endOf));
      while (others[at] !== own[0]) at++;
      const neighbors: ChunkRecord[] = [];
      for (let i = at - 1; i >= 0 && reach[i] >= start; i--) {
        if (endOf(others[i]) >= start) neighbors.push(others[i]);
        if (neighbors.length > maxNeighbors) return undefined;
      }
      // The own chunks come in the same order.
      let known = 0;
      for (let i = at; i < others.length && startOf(others[i]) <= end; i++) {
        if (others[i] === own[known]) known++;
        else neighbors.push(others[i]);
        if (neighbors.length > maxNeighbors) return undefined;
      }
      ranges.push({ own, neighbors });
      from += own.length;
      if (grows) size = Math.min(maxSize, 2 * size);
    }
  }
  return ranges.sort((a, b) => byStart(a.own[0], b.own[0]));
}

/** Returns the first chunks, as many as do not cost more, and one at least. */
function cheapest(records: readonly ChunkRecord[], maxCost: number): readonly ChunkRecord[] {
  let cost = 0;
  const end = records.findIndex((record, i) => {
    cost += costOfChunk(record);
    return i > 0 && cost > maxCost;
  });
  return end < 0 ? records : records.slice(0, end);
}

/** Joins consecutive ranges in groups of `size`. */
export function joinRanges(ranges: readonly ChunkRange[], size: number): ChunkRange[] {
  const joined: ChunkRange[] = [];
  for (let from = 0; from < ranges.length; from += size) {
    const some = ranges.slice(from, from + size);
    const own = new Set(some.flatMap(range => range.own));
    const outside = new Set(some.flatMap(({ neighbors }) => neighbors.filter(one => !own.has(one))));
    joined.push({ own: [...own], neighbors: [...outside] });
  }
  return joined;
}
