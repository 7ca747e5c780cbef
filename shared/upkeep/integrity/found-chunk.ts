/** Reads the end of a chunk object whose record may be lost. */

import { CorruptionError } from '../../base/model/errors.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import { objectKey } from '../../storage/catalog/chunk-record.ts';
import type { StoredObject } from '../../storage/catalog/stored-objects.ts';
import { decodeFooter, footerLength } from '../../storage/chunk/footer-codec.ts';
import { type Footer, TRAILER_BYTES } from '../../storage/chunk/format.ts';
import { MismatchError } from './check-chunk.ts';

export interface FoundChunk {
  readonly footer: Footer;
  /** Size of the object, bytes. */
  readonly storedBytes: number;
  /** Footer and trailer. */
  readonly tail: Buffer;
}

/** Read size that contains most footers. */
const TAIL_BYTES = 256 * 1024;

/**
 * `undefined` if the object is gone. Throws the errors of the store, and CorruptionError. Throws
 * MismatchError if the object has the key of another chunk, because its record would belong to another chunk,
 * day or tenant.
 */
export async function readFoundChunk(
  store: ObjectStore,
  { key, hasHashedKey }: StoredObject,
): Promise<FoundChunk | undefined> {
  const what = `chunk ${key}`;
  try {
    let { bytes, size } = await store.getTail(key, TAIL_BYTES);
    const length = footerLength(bytes, size, what) + TRAILER_BYTES;
    if (length > bytes.length) ({ bytes, size } = await store.getTail(key, length));
    const tail = Buffer.from(bytes.subarray(bytes.length - length));
    const footer = decodeFooter(tail.subarray(0, length - TRAILER_BYTES), what);
    const own = objectKey({ ...footer, hasHashedKey });
    if (own !== key) throw new MismatchError(`contains chunk ${own}`);
    const pagesEnd = Math.max(0, ...footer.pages.map(({ offset, storedBytes }) => offset + storedBytes));
    if (pagesEnd > size - length) {
      throw new CorruptionError(`${what}: pages end at byte ${pagesEnd}, expected ${size - length}`);
    }
    return { footer, storedBytes: size, tail };
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  }
}
