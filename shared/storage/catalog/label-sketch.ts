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

/** Hashes of the pairs of a stream. Pushes share the objects of their streams (write/ingest/stream-cache.ts). */
const HASHES = new WeakMap<Stream, Uint32Array>();

/** Sorted hashes, or undefined if there are too many pairs. */
export function labelSketch(streams: readonly Stream[]): Uint32Array | undefined {
  const hashes = new Set<number>();
  for (const stream of streams) {
    for (const hash of hashesOf(stream)) hashes.add(hash);
    if (hashes.size > MAX_PAIRS) return undefined;
  }
  return Uint32Array.from(hashes).sort();
}

function hashesOf(stream: Stream): Uint32Array {
  let hashes = HASHES.get(stream);
  if (hashes === undefined) {
    hashes = Uint32Array.from(stream.labels, ({ name, value }) => pairHash(name, value));
    HASHES.set(stream, hashes);
  }
  return hashes;
}

/** False only if no stream of the chunk has any of the pairs. */
export function mayHaveAny(sketch: Uint32Array | undefined, hashes: readonly number[]): boolean {
  if (sketch === undefined) return true;
  return hashes.some(hash => has(sketch, hash));
}

function has(sketch: Uint32Array, hash: number): boolean {
  return sketch[lowerBound(sketch, 0, sketch.length, hash)] === hash;
}
