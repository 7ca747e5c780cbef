/** Where the bytes of an index object come from: a store, or memory. */
import { CorruptionError } from '../../base/model/errors.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';

export interface IndexSource {
  /** Size of the object, bytes. */
  readonly bytes: number;
  /** Bytes `start` (inclusive) to `end` (exclusive), never an empty range. */
  read(start: number, end: number): Promise<Buffer>;
}

export function bufferSource(object: Buffer): IndexSource {
  return { bytes: object.length, read: async (start, end) => object.subarray(start, end) };
}

/** @param bytes size of the object, as the catalog has it */
export function storeSource(store: ObjectStore, key: string, bytes: number): IndexSource {
  return {
    bytes,
    async read(start, end) {
      try {
        return await store.getRange(key, start, end);
      } catch (error) {
        // The range lies inside the size that the catalog has: so the object is shorter.
        if (error instanceof RangeError) throw new CorruptionError(`${key}: shorter than ${bytes} bytes`);
        throw error;
      }
    },
  };
}

/** All of the range, or CorruptionError where the object is shorter than it should be. */
export async function readRange(
  source: IndexSource,
  start: number,
  end: number,
  what: string,
): Promise<Buffer> {
  if (start === end) return Buffer.alloc(0);
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start) {
    throw new CorruptionError(`${what}: ${bytes.length} bytes at ${start} where ${end - start} are stored`);
  }
  return bytes;
}

/** Bytes that nobody wants are read along where that saves a request: 30 ms on S3 are worth more. */
const MAX_GAP_BYTES = 64 * 1024;
/** One request: enough to hide its latency, and what of the counts lies in memory at once. */
const MAX_RANGE_BYTES = 8 * 1024 * 1024;

export interface Extent {
  readonly offset: number;
  readonly storedBytes: number;
}

/** Groups of extents, ascending by offset, that are read together. */
export function groupExtents<T extends Extent>(extents: readonly T[]): T[][] {
  const groups: T[][] = [];
  let start = 0;
  let end = 0;
  for (const extent of extents) {
    const extentEnd = extent.offset + extent.storedBytes;
    const joins = extent.offset - end <= MAX_GAP_BYTES && extentEnd - start <= MAX_RANGE_BYTES;
    if (groups.length > 0 && joins) groups[groups.length - 1].push(extent);
    else {
      groups.push([extent]);
      start = extent.offset;
    }
    end = extentEnd;
  }
  return groups;
}
