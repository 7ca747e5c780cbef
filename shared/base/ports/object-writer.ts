/** Writes objects part by part to any store. */
import { invariant } from '../model/errors.ts';
import type { ObjectStore, ObjectWriter } from './object-store.ts';

/** Returns the store's own writer, or one that holds the parts in memory until the object is stored. */
export function writerOf(store: ObjectStore): ObjectWriter {
  return store.writer?.() ?? memoryWriter(store);
}

function memoryWriter(store: Pick<ObjectStore, 'putIfAbsent'>): ObjectWriter {
  const parts: Uint8Array[] = [];
  return {
    async write(part) {
      parts.push(part);
    },
    async read(start, end) {
      return readParts(parts, start, end);
    },
    put: key => store.putIfAbsent(key, parts),
    // The parts are not freed here: a distant store may still send them after its response, because a slow put is sent twice.
    discard: async () => undefined,
  };
}

/** Returns a copy of bytes `start` (inclusive) to `end` (exclusive) of the parts. */
export function readParts(parts: readonly Uint8Array[], start: number, end: number): Buffer {
  const found: Uint8Array[] = [];
  let offset = 0;
  for (const part of parts) {
    const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, part.length)];
    if (from < to) found.push(part.subarray(from, to));
    offset += part.length;
  }
  invariant(start >= 0 && start <= end && end <= offset, 'only what was written is read');
  return Buffer.concat(found);
}

/** Returns a writer whose calls that reach the store run in `run`. */
export function watchedWriter(
  writer: ObjectWriter,
  run: <T>(work: () => Promise<T>) => Promise<T>,
): ObjectWriter {
  return {
    write: part => run(() => writer.write(part)),
    read: (start, end) => writer.read(start, end),
    put: key => run(() => writer.put(key)),
    discard: () => writer.discard(),
  };
}
