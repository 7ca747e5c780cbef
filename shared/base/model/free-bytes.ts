/**
 * Frees the memory behind a buffer at once. A large buffer that is left to the garbage collector stays for as long as its thread has
 * nothing to do, which is until the next requests.
 *
 * Pitfall: whoever still looks at the bytes finds none. Call it only for memory that nothing else points into.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  // A part of a larger buffer stays, because others may have parts of it, and so does memory that threads share (it has no `transfer`).
  if (!('transfer' in buffer) || buffer.byteLength !== byteLength || buffer.detached) return;
  buffer.transfer(0);
}

/** Frees the whole buffer that the bytes are a part of. */
export function freeWhole({ buffer }: ArrayBufferView): void {
  freeBytes(new Uint8Array(buffer));
}

/** Smaller buffers are the garbage collector's, because Node cuts small ones from a buffer that it shares. */
const LARGE_BYTES = 1024 * 1024;

/** Frees the buffer that large content is alone in, whatever part of it the content takes. Leaves small content alone. */
export function freeLarge(content: Uint8Array): void {
  if (content.length >= LARGE_BYTES) freeWhole(content);
}
