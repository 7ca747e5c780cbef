/** Reads and writes the bytes of a chunk, which are stored in its record or in an object. */

import { CorruptionError } from '../../base/model/errors.ts';
import type { ObjectStore, ObjectWriter } from '../../base/ports/object-store.ts';
import { decodeFooter } from '../chunk/footer-codec.ts';
import type { Footer } from '../chunk/format.ts';
import { TRAILER_BYTES } from '../chunk/format.ts';
import type { WrittenChunk } from '../chunk/writer.ts';
import { type ChunkRecord, objectKey, recordOf } from './chunk-record.ts';

/** Key of the object of a chunk that is not inline. */
export function keyOfChunk(record: ChunkRecord): string {
  return objectKey(record);
}

/** Name of a chunk in error messages, which begin with it. */
export function nameOfChunk(record: ChunkRecord): string {
  return `chunk ${keyOfChunk(record)}`;
}

/**
 * Reads the bytes `start` to `end` (exclusive) of the chunk. Throws the errors of the store, and CorruptionError if the
 * chunk is shorter.
 */
export async function readChunk(
  store: ObjectStore,
  record: ChunkRecord,
  start: number,
  end: number,
): Promise<Buffer> {
  if (end <= start) return Buffer.alloc(0);
  const bytes = record.inline?.subarray(start, end) ?? (await readObject(store, record, start, end));
  if (bytes.length === end - start) return bytes;
  throw new CorruptionError(`${nameOfChunk(record)}: ends at byte ${start + bytes.length}, not at ${end}`);
}

async function readObject(
  store: ObjectStore,
  record: ChunkRecord,
  start: number,
  end: number,
): Promise<Buffer> {
  try {
    return await store.getRange(keyOfChunk(record), start, end);
  } catch (error) {
    // Reports a truncated object: the range is inside the size that the record states.
    if (error instanceof RangeError)
      throw new CorruptionError(`${nameOfChunk(record)}: ends before ${start}`);
    throw error;
  }
}

/** Throws the errors of the store, and CorruptionError, also if the footer belongs to another chunk. */
export async function readFooter(store: ObjectStore, record: ChunkRecord): Promise<Footer> {
  const { storedBytes, footerBytes } = record;
  return footerOfTail(
    record,
    record.footer ?? (await readChunk(store, record, storedBytes - footerBytes, storedBytes)),
  );
}

/** @param tail footer and trailer. Throws CorruptionError, also if the footer belongs to another chunk. */
export function footerOfTail(record: ChunkRecord, tail: Buffer): Footer {
  const { tenant, day, id } = record;
  const what = nameOfChunk(record);
  const footer = decodeFooter(tail.subarray(0, tail.length - TRAILER_BYTES), what);
  if (footer.tenant !== tenant || footer.day !== day || footer.id !== id) {
    throw new CorruptionError(`${what}: the footer belongs to ${footer.tenant}/${footer.day}/${footer.id}`);
  }
  return footer;
}

/** Makes a chunk durable. Small chunks are stored in the record only, which the caller adds to the catalog. */
export async function storeChunk(
  store: ObjectStore,
  chunk: WrittenChunk,
  inlineMaxBytes: number,
): Promise<ChunkRecord> {
  const { parts, bytes } = chunk;
  if (bytes <= inlineMaxBytes) return newRecord(store, chunk, Buffer.concat(parts, bytes));
  const record = newRecord(store, chunk);
  // Ignores an existing object: the name is unique to this attempt, so an earlier call whose response was lost created
  // it.
  await store.putIfAbsent(keyOfChunk(record), parts);
  return record;
}

/** Same as storeChunk, for a chunk whose bytes a writer of the store has. */
export async function storeWritten(
  store: ObjectStore,
  chunk: WrittenChunk,
  writer: ObjectWriter,
  inlineMaxBytes: number,
): Promise<ChunkRecord> {
  if (chunk.bytes <= inlineMaxBytes) return newRecord(store, chunk, await writer.read(0, chunk.bytes));
  const record = newRecord(store, chunk);
  await writer.put(keyOfChunk(record));
  return record;
}

function newRecord(
  { isDistant = false }: ObjectStore,
  { footer, parts, bytes, footerBytes }: WrittenChunk,
  inline?: Buffer,
): ChunkRecord {
  const tail = parts[parts.length - 1];
  return recordOf(footer, bytes, footerBytes, { inline, tail, hasHashedKey: isDistant });
}
