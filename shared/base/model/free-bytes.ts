/**
 * Frees the memory behind a buffer immediately. The garbage collector frees a large buffer only when its
 * thread works again, which may be at the next request.
 *
 * Pitfall: the buffer is empty afterward for every holder. Call it only for memory that nothing else refers
 * to.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  // Other code may use parts of a larger buffer, and other threads may use shared memory (which has no
  // `transfer`). Neither is freed.
  if (!('transfer' in buffer) || buffer.byteLength !== byteLength || buffer.detached) return;
  buffer.transfer(0);
}

/** Frees the whole buffer that the bytes are part of. */
export function freeWhole({ buffer }: ArrayBufferView): void {
  freeBytes(new Uint8Array(buffer));
}

/**
 * Minimum size that is freed explicitly. Node.js cuts small buffers from a shared slab, so the garbage
 * collector handles them.
 */
const LARGE_BYTES = 1024 * 1024;

/**
 * Frees the buffer of large content, even if the content fills only part of it. No other content may be in
 * that buffer. Does nothing for small content.
 */
export function freeLarge(content: Uint8Array): void {
  if (content.length >= LARGE_BYTES) freeWhole(content);
}
