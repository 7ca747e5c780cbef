/**
 * Lists the label pairs of a chunk as sorted 32-bit hashes. A query uses them to prune a chunk without reading its
 * footer. A missing hash proves that no stream has the pair. A present hash proves nothing.
 */
import { crc32 } from 'node:zlib';
import { lowerBound } from '../../base/model/binary-search.ts';
import type { Stream } from '../../base/model/page.ts';

/** Maximum number of pairs: 1 KiB in a record. A chunk with more pairs has no sketch and is never pruned. */
const MAX_PAIRS = 256;

export function pairHash(name: string, value: string): number {
  return crc32(`${name}\u0000${value}`);
}

/** Sorted hashes, or undefined if there are too many pairs. */
export function labelSketch(streams: readonly Stream[]): Uint32Array | undefined {
  const hashes = new Set<number>();
  for (const { labels } of streams) {
    for (const { name, value } of labels) {
      hashes.add(pairHash(name, value));
      if (hashes.size > MAX_PAIRS) return undefined;
    }
  }
  return Uint32Array.from(hashes).sort();
}

/** False only if no stream of the chunk has any of the pairs. */
export function mayHaveAny(sketch: Uint32Array | undefined, hashes: readonly number[]): boolean {
  if (sketch === undefined) return true;
  return hashes.some(hash => has(sketch, hash));
}

function has(sketch: Uint32Array, hash: number): boolean {
  return sketch[lowerBound(sketch, 0, sketch.length, hash)] === hash;
}
