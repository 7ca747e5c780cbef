/** Source of an index object's bytes. */
import { CorruptionError } from '../../base/model/errors.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';

export interface IndexSource {
  /** Size of the object in bytes. */
  readonly bytes: number;
  /** Reads bytes `start` (inclusive) to `end` (exclusive), never an empty range. */
  read(start: number, end: number): Promise<Buffer>;
}

/** @param bytes Size of the object according to the catalog */
export function storeSource(store: ObjectStore, key: string, bytes: number): IndexSource {
  return {
    bytes,
    async read(start, end) {
      try {
        return await store.getRange(key, start, end);
      } catch (error) {
        // The range is within the size in the catalog, so the object is too short.
        if (error instanceof RangeError) throw new CorruptionError(`${key}: shorter than ${bytes} bytes`);
        throw error;
      }
    },
  };
}

/** Reads the whole range. Throws CorruptionError if the object is too short. */
export async function readRange(
  source: IndexSource,
  start: number,
  end: number,
  what: string,
): Promise<Buffer> {
  if (start === end) return Buffer.alloc(0);
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start) {
    throw new CorruptionError(`${what}: ${bytes.length} bytes at ${start}, expected ${end - start}`);
  }
  return bytes;
}

/** Maximum unneeded bytes to read in order to save a request: 30 ms on S3 cost more. */
const MAX_GAP_BYTES = 64 * 1024;
/** Maximum bytes per request: enough to hide its latency. It also bounds the counts in memory. */
const MAX_RANGE_BYTES = 8 * 1024 * 1024;

interface StoredRange {
  readonly offset: number;
  readonly storedBytes: number;
}

/** Groups adjacent extents (ascending by offset) that are read together. */
export function groupExtents<T extends StoredRange>(extents: readonly T[]): T[][] {
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
