/**
 * Makes directory entries durable. `fsync` of a file does not cover its name, and the name of a directory is
 * stored in its parent. An object survives power loss only if its directory and every new directory above it
 * are synced.
 *
 * Concurrent callers share syncs: while one runs, all later callers of the same directory wait for one more
 * that starts after it (a running sync may have missed their name).
 */
import { closeSync, constants, fstatSync, fsync as fsyncWithCallback, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { LruCache } from '../shared/base/model/lru.ts';

const fsync = promisify(fsyncWithCallback);

/** Maximum directories whose entries in their parents are known to be durable. */
const MAX_KNOWN_DIRECTORIES = 4096;

export interface DirectorySync {
  /** Resolves when all entries of `directory` at the time of the call are durable, up to the root. */
  sync(directory: string): Promise<void>;
}

/** `root` must exist and be durable (see `makeDurableDirectory`). */
export function directorySync(root: string): DirectorySync {
  const groups = new Map<string, { readonly running: Promise<void>; following?: Promise<void> }>();
  /**
   * Maps a directory to its identity. Any process may remove an empty directory and create it again. The new
   * directory has a different identity, so its parents are synced again.
   */
  const known = new LruCache<string, string>(MAX_KNOWN_DIRECTORIES);

  const syncUpwards = async (directory: string): Promise<void> => {
    const identity = await syncDirectory(directory);
    if (directory === root || known.get(directory) === identity) return;
    await sync(path.dirname(directory));
    known.set(directory, identity);
  };

  const begin = (directory: string): Promise<void> => {
    const group: { readonly running: Promise<void>; following?: Promise<void> } = {
      running: syncUpwards(directory),
    };
    groups.set(directory, group);
    const finish = (): void => {
      if (group.following === undefined) groups.delete(directory);
    };
    group.running.then(finish, finish);
    return group.running;
  };

  const sync = (directory: string): Promise<void> => {
    const group = groups.get(directory);
    if (group === undefined) return begin(directory);
    const next = (): Promise<void> => begin(directory);
    group.following ??= group.running.then(next, next);
    return group.following;
  };

  return { sync };
}

/** Creates a directory and its missing parents, all of them durable. */
export async function makeDurableDirectory(directory: string): Promise<void> {
  const absolute = path.resolve(directory);
  const firstMade = await mkdir(absolute, { recursive: true });
  if (firstMade === undefined) return;
  for (let made = absolute; ; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
    if (made === firstMade) return;
  }
}

/**
 * Syncs the names in one directory. Resolves to its identity, which differs for a later directory of the same
 * name. Only the sync runs on another thread: opening a directory that was just used takes less time than a switch.
 */
async function syncDirectory(directory: string): Promise<string> {
  // Windows cannot open directories, and its file system journals names itself.
  if (process.platform === 'win32') return '';
  const file = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const { ino, birthtimeNs } = fstatSync(file, { bigint: true });
    await fsync(file);
    return `${ino}:${birthtimeNs}`;
  } finally {
    closeSync(file);
  }
}
