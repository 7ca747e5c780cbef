/**
 * Where in which file a reader is. A name says nothing about the file after a rotation, so a file is known by its number
 * on its disk, and, as numbers are given again, by its first bytes.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface FilePosition {
  /** Device and inode. */
  readonly file: string;
  /** Bytes that are done with. */
  readonly offset: number;
  /** Hash of the first bytes, and how many these were. */
  readonly head: string;
  readonly headBytes: number;
}

/** Lines of a log begin with their time: so many bytes tell files apart. */
const HEAD_BYTES = 256;
/** Rotated files beside a log: more are not looked at. */
const MAX_SIBLINGS = 1000;

/** Of an open file, with so many bytes done. */
export async function placeOf(handle: FileHandle, offset: number): Promise<FilePosition> {
  const headBytes = Math.min(HEAD_BYTES, offset);
  return { file: await idOf(handle), offset, head: await headOf(handle, headBytes), headBytes };
}

export async function idOf(handle: FileHandle): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true });
  return `${dev}:${ino}`;
}

async function headOf(handle: FileHandle, bytes: number): Promise<string> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(buffer, 0, bytes, 0);
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex').slice(0, 32);
}

/** Whether it is that file still, with all that was read of it. */
export async function isAt(handle: FileHandle, place: FilePosition): Promise<boolean> {
  if ((await idOf(handle)) !== place.file) return false;
  if ((await handle.stat()).size < place.offset) return false;
  return (await headOf(handle, place.headBytes)) === place.head;
}

/**
 * The file of a place, opened: under the name itself, or one that begins with it, as rotation renames `app.log` to `app.log.1`.
 * Undefined where it is gone. The caller closes it.
 */
export async function openPlace(path: string, place: FilePosition): Promise<FileHandle | undefined> {
  const folder = dirname(path);
  const name = basename(path);
  const siblings = namesIn(folder).filter(each => each !== name && each.startsWith(name));
  for (const each of [name, ...siblings.sort().slice(0, MAX_SIBLINGS)]) {
    const handle = await open(join(folder, each)).catch(() => undefined);
    if (handle === undefined) continue;
    if (await isAt(handle, place).catch(() => false)) return handle;
    await handle.close();
  }
  return undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
