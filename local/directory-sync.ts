/**
 * Makes names in directories durable. `fsync` of a file says nothing about its name, and a directory's own name lies
 * in its parent: an object survives power loss when its directory and every new directory above it are synced.
 *
 * Concurrent callers share syncs: while one runs, all later callers of the same directory wait for one more that
 * starts after it (one that already runs may have missed their name).
 */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

/** Directories whose place in their parents is known to be durable; forgotten all together above this. */
const MAX_KNOWN_DIRECTORIES = 4096;

export interface DirectorySync {
  /** Resolves when everything that was in `directory` at the call is durable, up to the root. */
  sync(directory: string): Promise<void>;
}

/** `root` must exist and be durable itself (see `makeDurableDirectory`). */
export function directorySync(root: string): DirectorySync {
  const groups = new Map<string, { readonly running: Promise<void>; following?: Promise<void> }>();
  /**
   * Directory to its identity. An empty directory may be removed and made again, by another process too; the new
   * one has another identity and its parents are synced again.
   */
  const known = new Map<string, string>();

  const syncUpwards = async (directory: string): Promise<void> => {
    const identity = await syncDirectory(directory);
    if (directory === root || known.get(directory) === identity) return;
    await sync(path.dirname(directory));
    if (known.size >= MAX_KNOWN_DIRECTORIES) known.clear();
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

/** Makes a directory and those above it that are missing, all of them durable. */
export async function makeDurableDirectory(directory: string): Promise<void> {
  const absolute = path.resolve(directory);
  const firstMade = await mkdir(absolute, { recursive: true });
  if (firstMade === undefined) return;
  for (let made = absolute; ; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
    if (made === firstMade) return;
  }
}

/** Syncs the names in one directory. Resolves to what tells this directory from a later one of the same name. */
async function syncDirectory(directory: string): Promise<string> {
  // Windows opens no directories; its file system journals names by itself.
  if (process.platform === 'win32') return '';
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const { ino, birthtimeNs } = await handle.stat({ bigint: true });
    await handle.sync();
    return `${ino}:${birthtimeNs}`;
  } finally {
    await handle.close();
  }
}
