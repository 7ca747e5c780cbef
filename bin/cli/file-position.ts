/**
 * Position of a reader in a file. A name does not identify a file after a rotation. The inode number does,
 * together with the first bytes, because inode numbers are reused.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface FilePosition {
  /** Device and inode. */
  readonly file: string;
  /** Bytes that are fully processed. */
  readonly offset: number;
  /** Hash of the first `headBytes` bytes. */
  readonly head: string;
  readonly headBytes: number;
}

/**
 * Number of first bytes that are compared. Log lines begin with their time, so these bytes distinguish files.
 */
const HEAD_BYTES = 256;
/** Maximum number of rotated files next to a log that are checked. */
const MAX_SIBLINGS = 1000;

/** Position in an open file after `offset` processed bytes. */
export async function positionOf(handle: FileHandle, offset: number): Promise<FilePosition> {
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

/** True if the open file is the file of the position and still has everything that was read. */
async function isAt(handle: FileHandle, position: FilePosition): Promise<boolean> {
  if ((await idOf(handle)) !== position.file) return false;
  if ((await handle.stat()).size < position.offset) return false;
  return (await headOf(handle, position.headBytes)) === position.head;
}

/**
 * Opens the file of a position: under its name, or under a name with that prefix, because rotation renames
 * `app.log` to `app.log.1`. Undefined if the file is gone. The caller closes it.
 */
export async function openAtPosition(path: string, position: FilePosition): Promise<FileHandle | undefined> {
  const folder = dirname(path);
  const name = basename(path);
  const siblings = namesIn(folder).filter(each => each !== name && each.startsWith(name));
  for (const each of [name, ...siblings.sort().slice(0, MAX_SIBLINGS)]) {
    const handle = await open(join(folder, each)).catch(() => undefined);
    if (handle === undefined) continue;
    if (await isAt(handle, position).catch(() => false)) return handle;
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
