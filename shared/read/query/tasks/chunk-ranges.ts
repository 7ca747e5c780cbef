/**
 * Cuts the chunks of a day into ranges that workers plan themselves: they read footers and text indexes,
 * count and scan. The query function then holds only the catalog's records, 2 MB per TB of lines, and not the
 * footers, which are gigabytes.
 *
 *     time     |--A--|--B--|--C--|--D--|
 *                             |--E--|
 *     ranges   [A B] [C E] [D]              E meets D too. It is a neighbor of [D], which drops its copies of E's entries
 */
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';

export interface ChunkRange {
  readonly own: readonly ChunkRecord[];
  /** Chunks of other ranges that share time with this one. */
  readonly neighbors: readonly ChunkRecord[];
}

/** Maximum chunks of one range: a second for footers (500 MB when decoded), and 128 KB of a task. */
const MAX_CHUNKS = 128;
/** Maximum neighbors. Beyond it, workers would plan the same chunks repeatedly. */
const MAX_NEIGHBORS = 256;

/**
 * Returns undefined if too many chunks share one time.
 *
 * @param count number of ranges, if there are enough chunks
 */
export function chunkRanges(
  records: readonly ChunkRecord[],
  count: number,
  maxNeighbors = MAX_NEIGHBORS,
): ChunkRange[] | undefined {
  const sorted = records.toSorted((a, b) => a.first - b.first || (a.id < b.id ? -1 : 1));
  // Latest end of all records up to each index. No record before the first index that reaches a time reaches
  // it.
  const reach: number[] = [];
  for (const { last } of sorted) reach.push(Math.max(last, reach.at(-1) ?? 0));
  const size = Math.min(MAX_CHUNKS, Math.max(1, Math.ceil(sorted.length / count)));
  const ranges: ChunkRange[] = [];
  for (let from = 0; from < sorted.length; from += size) {
    const own = sorted.slice(from, from + size);
    const last = Math.max(...own.map(record => record.last));
    const neighbors: ChunkRecord[] = [];
    for (let i = from - 1; i >= 0 && reach[i] >= own[0].first; i--) {
      if (sorted[i].last >= own[0].first) neighbors.push(sorted[i]);
      if (neighbors.length > maxNeighbors) return undefined;
    }
    for (let i = from + size; i < sorted.length && sorted[i].first <= last; i++) {
      neighbors.push(sorted[i]);
      if (neighbors.length > maxNeighbors) return undefined;
    }
    ranges.push({ own, neighbors });
  }
  return ranges;
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
