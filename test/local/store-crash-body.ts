/** The one body that a key may have, so that a reader can tell whether it is whole. */
import { createHash } from 'node:crypto';

/** 32 bytes to 320 KiB that follow from the key. */
export function bodyOf(key: string): Buffer {
  const seed = createHash('sha256').update(key).digest();
  const blocks = 1 + (seed.readUInt32LE(0) % (10 * 1024));
  return Buffer.concat(Array.from({ length: blocks }, () => seed));
}
