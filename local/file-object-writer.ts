/**
 * Writes an object to a temporary file part by part, so that the output of a merge, up to 128 MB, is not in memory until it is stored.
 * Small objects have no such file before they are put.
 */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { returnStoredBytes, takeStoredBytes } from '../shared/base/model/stored-bytes.ts';
import type { ObjectWriter } from '../shared/base/ports/object-store.ts';
import { readParts } from '../shared/base/ports/object-writer.ts';

/** Parts of this size together are written to the file. Each write costs a call in another thread, 0.1 ms. */
const HELD_BYTES = 1024 * 1024;

interface FileWriterParts {
  /** Path of the temporary file. */
  readonly temporary: string;
  /** Stores parts that are in memory. */
  putParts(key: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /** Gives the synced file the name of its key. */
  publish(key: string, file: string): Promise<boolean>;
}

export class FileObjectWriter implements ObjectWriter {
  readonly #parts: FileWriterParts;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #file: FileHandle | undefined;

  constructor(parts: FileWriterParts) {
    this.#parts = parts;
  }

  async write(part: Uint8Array): Promise<void> {
    this.#held.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes >= HELD_BYTES) await this.#flush();
  }

  async read(start: number, end: number): Promise<Buffer> {
    if (this.#file === undefined) return readParts(this.#held, start, end);
    await this.#flush();
    const bytes = takeStoredBytes(end - start);
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await this.#file.read(bytes, done, bytes.length - done, start + done);
      if (bytesRead === 0) throw new Error(`a temporary file ends at byte ${start + done}, not at ${end}`);
      done += bytesRead;
    }
    return bytes;
  }

  async put(key: string): Promise<boolean> {
    const { temporary, putParts, publish } = this.#parts;
    if (this.#file === undefined) return putParts(key, this.#held);
    await this.#flush();
    await this.#file.sync();
    return publish(key, temporary);
  }

  async discard(): Promise<void> {
    this.#held = [];
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    await file.close();
    // Ignores a failure: a leftover temporary file is removed at the next start.
    await unlink(this.#parts.temporary).catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const file = (this.#file ??= await open(this.#parts.temporary, 'wx+'));
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    await writeWhole(async rest => (await file.writev(rest)).bytesWritten, held);
    for (const part of held) returnStoredBytes(part);
  }
}

/**
 * Writes all bytes at the end of what was written.
 * @param write returns the number of bytes that the system took
 */
export async function writeWhole(
  write: (parts: readonly Uint8Array[]) => number | Promise<number>,
  parts: readonly Uint8Array[],
): Promise<void> {
  let rest = parts.filter(part => part.byteLength > 0);
  while (rest.length > 0) rest = afterBytes(rest, await write(rest));
}

function afterBytes(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let first = 0;
  let left = bytes;
  while (first < parts.length && parts[first].byteLength <= left) left -= parts[first++].byteLength;
  return parts.slice(first).map((part, i) => (i === 0 ? part.subarray(left) : part));
}
