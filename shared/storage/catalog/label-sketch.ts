/**
 * Which label pairs occur in a chunk, as sorted 32-bit hashes: lets a query pass over a chunk without its footer. A
 * hash that is there proves nothing; one that is not there proves that no stream has the pair.
 */

import { crc32 } from 'node:zlib';
import { lowerRow } from '../../base/model/binary-search.ts';
import type { Stream } from '../../base/model/page.ts';

/** 1 KiB in a record; a chunk with more pairs carries no sketch and is never passed over. */
const MAX_PAIRS = 256;

export function pairHash(name: string, value: string): number {
  return crc32(`${name}\u0000${value}`);
}

/** Sorted hashes, or undefined where there are too many pairs. */
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

/** False only where no stream of the chunk has any of the pairs. */
export function mayHaveAny(sketch: Uint32Array | undefined, hashes: readonly number[]): boolean {
  if (sketch === undefined) return true;
  return hashes.some(hash => has(sketch, hash));
}

function has(sketch: Uint32Array, hash: number): boolean {
  return sketch[lowerRow(sketch, 0, sketch.length, hash)] === hash;
}
