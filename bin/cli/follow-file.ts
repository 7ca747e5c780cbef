/**
 * Reads a growing text file like `tail -F`, until it is stopped. A file that was moved away (rotated) is read
 * to its end before the new file of the same name. A truncated file is read from its start.
 *
 * It polls, because file watching misses changes on network disks and in containers. Pitfall: it cannot
 * detect a file that was truncated and grew beyond its old size between two polls.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { type FilePosition, idOf, openAtPosition, positionOf } from './file-position.ts';

interface FollowOptions {
  readonly clock: Clock;
  /** Stops reading. Data already in the file may or may not have been read. */
  readonly signal: AbortSignal;
  /** Position to continue at; defaults to the start of the file. */
  readonly from?: FilePosition;
  /** Skips the existing contents. `from` takes precedence. */
  readonly atEnd?: boolean;
  readonly note: (text: string) => void;
}

/** Part of the output that comes from one file. */
interface OutputPart {
  /** Output offset where the part starts, and the file offset of the same byte. */
  readonly outputStart: number;
  readonly fileStart: number;
  readonly handle: FileHandle;
}

const READ_BYTES = 256 * 1024;
/** Poll interval. A line is in the store 1 s after it was written, and most of that is the batch wait. */
const LOOK_MS = 250;
const LF = 10;

export class FollowedFile implements AsyncIterable<Buffer> {
  readonly #path: string;
  readonly #options: FollowOptions;
  readonly #parts: OutputPart[] = [];
  #handle: FileHandle | undefined;
  #outputBytes = 0;
  #offset = 0;
  #endsInLine = false;

  constructor(path: string, options: FollowOptions) {
    this.#path = path;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const { signal } = this.#options;
    await this.#openFirst();
    while (!signal.aborted) {
      const piece = await this.#read();
      if (piece !== undefined) yield piece;
      else if (!(await this.#moveOn())) await this.#pause();
      else if (this.#endsInLine) yield this.#endLine();
    }
  }

  /**
   * File position for an offset of the output; closes the files before it. Undefined if nothing was read yet.
   */
  async positionAt(outputBytes: number): Promise<FilePosition | undefined> {
    while (this.#parts.length > 1 && this.#parts[1].outputStart <= outputBytes) {
      const [{ handle }] = this.#parts.splice(0, 1);
      // A truncated file has two parts.
      if (handle !== this.#parts[0].handle) await handle.close();
    }
    const first = this.#parts.at(0);
    if (first === undefined || outputBytes < first.outputStart) return undefined;
    const { size } = await first.handle.stat();
    // A file that was truncated since has other bytes at this position.
    if (this.#parts.at(1)?.handle === first.handle) return undefined;
    // A line that ends with its file has one byte more in the output than in the file.
    const offset = Math.min(first.fileStart + outputBytes - first.outputStart, size);
    return positionOf(first.handle, offset);
  }

  async close(): Promise<void> {
    for (const handle of new Set([...this.#parts.map(each => each.handle), this.#handle]))
      await handle?.close();
    this.#parts.length = 0;
    this.#handle = undefined;
  }

  async #openFirst(): Promise<void> {
    const { from, atEnd = false, note, signal } = this.#options;
    if (from !== undefined) {
      const handle = await openAtPosition(this.#path, from);
      if (handle !== undefined) return this.#begin(handle, from.offset);
      note(`the previously read file is gone; reading ${this.#path} from its start`);
    }
    for (let isNoted = false; !signal.aborted; isNoted = true) {
      const handle = await open(this.#path).catch(ifMissing);
      if (handle !== undefined) {
        const isSkipped = atEnd && from === undefined && !isNoted;
        return this.#begin(handle, isSkipped ? (await handle.stat()).size : 0);
      }
      if (!isNoted) note(`file ${this.#path} does not exist yet; waiting for it`);
      await this.#pause();
    }
  }

  #begin(handle: FileHandle, fileStart: number): void {
    this.#handle = handle;
    this.#offset = fileStart;
    this.#parts.push({ outputStart: this.#outputBytes, fileStart, handle });
  }

  async #read(): Promise<Buffer | undefined> {
    if (this.#handle === undefined) return undefined;
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await this.#handle.read(buffer, 0, READ_BYTES, this.#offset);
    if (bytesRead === 0) return undefined;
    this.#offset += bytesRead;
    this.#outputBytes += bytesRead;
    this.#endsInLine = buffer[bytesRead - 1] !== LF;
    return buffer.subarray(0, bytesRead);
  }

  /** Called at the end of a file. True if there is another file to read, or the start of a truncated one. */
  async #moveOn(): Promise<boolean> {
    const handle = this.#handle;
    if (handle === undefined) return false;
    const next = await open(this.#path).catch(ifMissing);
    if (next === undefined) return false;
    if ((await idOf(next)) === (await idOf(handle))) {
      await next.close();
      if ((await handle.stat()).size >= this.#offset) return false;
      this.#options.note(`${this.#path} was truncated; reading it from its start`);
      this.#begin(handle, 0);
      return true;
    }
    // The old file may have been written until the new one existed.
    if ((await handle.stat()).size > this.#offset) {
      await next.close();
      return false;
    }
    this.#begin(next, 0);
    return true;
  }

  /** Adds a line break after the last line of a finished file that lacks one. */
  #endLine(): Buffer {
    this.#endsInLine = false;
    const stretch = this.#parts.at(-1)!;
    this.#outputBytes++;
    this.#parts[this.#parts.length - 1] = { ...stretch, outputStart: this.#outputBytes };
    return Buffer.of(LF);
  }

  #pause(): Promise<void> {
    return this.#options.clock.sleep(LOOK_MS, this.#options.signal).catch(() => undefined);
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
