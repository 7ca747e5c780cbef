import { crc32 } from 'node:zlib';
import type { PageMeta } from './format.ts';

/**
 * Returns true if all columns of a page have their checksums. Nothing is decoded.
 * @param stored its bytes
 */
export function hasChecksums({ columns }: PageMeta, stored: Buffer): boolean {
  return columns.every(({ block: { offset, storedBytes, crc } }) => {
    return storedBytes === 0 || crc32(stored.subarray(offset, offset + storedBytes)) === crc;
  });
}
