/**
 * Walks the files of an object store in key order. A directory is read in slices of bounded size, so a day
 * with a million objects costs time, not memory.
 *
 * Pitfall: the order of names is not the order of keys. A directory represents keys that continue with `/`,
 * so `a-b` comes before the contents of the directory `a`.
 */
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../shared/base/runtime/file-errors.ts';
import { type PathEntry, parseEntry } from './object-path.ts';

/** Entries of one directory in memory. The directory is read again for the next entries. */
const SLICE_ENTRIES = 4096;
/** Names per call of the system. */
const READ_NAMES = 512;

interface WalkBounds {
  /** Lists only keys with this prefix. */
  readonly prefix: string;
  /** Lists only keys greater than this. */
  readonly after: string;
}

interface FoundObject {
  readonly path: string;
  /** The key as a string of its UTF-8 bytes. */
  readonly keyBytes: string;
}

/**
 * Yields the objects below `directory`, whose keys start with `base`, in ascending order. All text is strings
 * of UTF-8 bytes.
 */
export async function* walkObjects(
  directory: string,
  base: string,
  bounds: WalkBounds,
): AsyncGenerator<FoundObject, void, undefined> {
  let floor: string | undefined;
  for (;;) {
    const { entries, isCut } = await readSlice(directory, base, bounds, floor);
    for (const entry of entries) {
      const entryPath = path.join(directory, entry.name);
      const keyBytes = base + entry.keyBytes;
      if (entry.isObject) yield { path: entryPath, keyBytes };
      else yield* walkObjects(entryPath, keyBytes, bounds);
    }
    if (!isCut) return;
    floor = entries.at(-1)!.keyBytes;
  }
}

/** Returns the first entries above `floor` that may contain keys within the bounds, in ascending order. */
async function readSlice(
  directory: string,
  base: string,
  bounds: WalkBounds,
  floor: string | undefined,
): Promise<{ entries: PathEntry[]; isCut: boolean }> {
  let entries: PathEntry[] = [];
  let isCut = false;
  const cut = (): void => {
    entries.sort(byKey);
    isCut ||= entries.length > SLICE_ENTRIES;
    entries = entries.slice(0, SLICE_ENTRIES);
  };
  try {
    for await (const { name } of await opendir(directory, { bufferSize: READ_NAMES })) {
      const entry = parseEntry(name);
      if (entry === undefined || (floor !== undefined && entry.keyBytes <= floor)) continue;
      if (!mayHold(entry, base + entry.keyBytes, bounds)) continue;
      entries.push(entry);
      if (entries.length === 2 * SLICE_ENTRIES) cut();
    }
  } catch (error) {
    // A concurrent deletion removed the last object, or the file is not ours.
    if (!isMissing(error)) throw error;
  }
  cut();
  return { entries, isCut };
}

/** Checks whether an object's key, or any key below a directory, can be within the bounds. */
function mayHold(entry: PathEntry, keyBytes: string, { prefix, after }: WalkBounds): boolean {
  if (entry.isObject) return keyBytes.startsWith(prefix) && keyBytes > after;
  const isBelowPrefix = keyBytes.startsWith(prefix) || prefix.startsWith(keyBytes);
  return isBelowPrefix && (keyBytes > after || after.startsWith(keyBytes));
}

function byKey(a: PathEntry, b: PathEntry): number {
  if (a.keyBytes === b.keyBytes) return 0;
  return a.keyBytes < b.keyBytes ? -1 : 1;
}
