/**
 * Memory for compressed columns and pages, which are copied or written once after they are made. The allocator maps each buffer
 * of 33 KiB or more separately, so without a pool each costs a page fault for every 4 KiB.
 */
import { BufferPool } from './buffer-pool.ts';
import { freeBytes } from './free-bytes.ts';

/** Smaller buffers come from memory that the allocator has. */
const MIN_BYTES = 16 * 1024;
/** Pages that wait for a write of 1 MiB, and the columns of pages in progress. */
export const STORED_BYTES = new BufferPool(4 * 1024 * 1024, { minBytes: MIN_BYTES });

/** Returns a buffer of exactly `bytes`, not cleared. It need not be returned. */
export function takeStoredBytes(bytes: number): Buffer {
  return STORED_BYTES.take(bytes);
}

/** Returns a copy, which need not be returned. Small ones share memory with other buffers. */
export function copyOfStoredBytes(from: Uint8Array): Buffer {
  if (from.length < MIN_BYTES) return Buffer.from(from);
  const copy = STORED_BYTES.take(from.length);
  copy.set(from);
  return copy;
}

/** Returns memory to the pool, or frees it if it is not from there. Nothing may use it afterwards. */
export function returnStoredBytes(bytes: Uint8Array): void {
  if (!STORED_BYTES.give(bytes)) freeBytes(bytes);
}

/** Returns memory to the pool if it is from there. Nothing may use it afterwards if it is. */
export function returnIfPooled(bytes: Uint8Array): void {
  STORED_BYTES.give(bytes);
}
