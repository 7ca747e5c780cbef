/**
 * Objects in memory: the model to which the file store and S3 are compared, and the store of simulations.
 * Bodies are copied when they are put and read, so that no caller can change a stored object.
 */
import { compareUtf8 } from '../../model/bytes.ts';
import { checkByteRange, checkObjectKey, checkTailLength, listLimit, rangePastEnd } from '../object-key.ts';
import { type ListPage, ObjectNotFoundError, type ObjectStore, wholeBody } from '../object-store.ts';

interface MemoryObjectStore extends ObjectStore {
  /** Number of stored objects. */
  readonly count: number;
  /** Total size of all objects, bytes. */
  readonly storedBytes: number;
}

export function memoryObjectStore(): MemoryObjectStore {
  const objects = new Map<string, Buffer>();

  const find = (key: string): Buffer => {
    const body = objects.get(key);
    if (body === undefined) throw new ObjectNotFoundError(key);
    return body;
  };

  return {
    get count() {
      return objects.size;
    },
    get storedBytes() {
      let bytes = 0;
      for (const body of objects.values()) bytes += body.byteLength;
      return bytes;
    },

    async putIfAbsent(key, body) {
      checkObjectKey(key);
      if (objects.has(key)) return false;
      objects.set(key, copyOf(wholeBody(body)));
      return true;
    },

    async get(key) {
      checkObjectKey(key);
      return copyOf(find(key));
    },

    async getRange(key, start, end) {
      checkObjectKey(key);
      checkByteRange(start, end);
      const body = find(key);
      if (start >= body.byteLength) throw rangePastEnd(key, start, body.byteLength);
      return copyOf(body.subarray(start, end));
    },

    async getTail(key, length) {
      checkObjectKey(key);
      checkTailLength(length);
      const body = find(key);
      const size = body.byteLength;
      return { bytes: copyOf(body.subarray(Math.max(0, size - length))), size };
    },

    async head(key) {
      checkObjectKey(key);
      const body = objects.get(key);
      return body === undefined ? undefined : { key, size: body.byteLength };
    },

    async delete(key) {
      checkObjectKey(key);
      objects.delete(key);
    },

    async list(prefix, { after, limit } = {}): Promise<ListPage> {
      const most = listLimit(limit);
      const keys: string[] = [];
      for (const key of objects.keys()) {
        if (key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0)) keys.push(key);
      }
      keys.sort(compareUtf8);
      const page = keys.slice(0, most).map(key => ({ key, size: find(key).byteLength }));
      return keys.length > most ? { objects: page, next: keys[most - 1] } : { objects: page };
    },
  };
}

/** Allocates a separate buffer. `Buffer.from` would cut small ones from a shared pool. */
function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.alloc(bytes.byteLength);
  copy.set(bytes);
  return copy;
}
