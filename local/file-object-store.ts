/**
 * Stores objects as files of one machine. Guarantees in addition to those of the port:
 *
 * - A put that resolved survives power loss. Its bytes are synced in a temporary file first. Then `link(2)`
 * gives
 *    them their name, which fails if the name exists, and the directory is synced. A name never refers to
 *    half an object, even if the process dies.
 * - Several processes may share a root.
 *
 * Pitfall: a deletion is not synced. After power loss, a deleted object may exist again. No record names it,
 * and garbage collection removes it as an orphan.
 */
import {
  closeSync,
  fstatSync,
  fsync as fsyncWithCallback,
  linkSync,
  openSync,
  readSync,
  read as readWithCallback,
  rmdirSync,
  type Stats,
  unlinkSync,
  writevSync,
  writev as writevWithCallback,
} from 'node:fs';
import { mkdir, opendir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import {
  checkByteRange,
  checkObjectKey,
  checkTailLength,
  listLimit,
  rangePastEnd,
} from '../shared/base/ports/object-key.ts';
import {
  bytesOfBody,
  type ListPage,
  type ObjectBody,
  type ObjectInfo,
  ObjectNotFoundError,
  type ObjectStore,
  partsOfBody,
} from '../shared/base/ports/object-store.ts';
import { watchedWriter } from '../shared/base/ports/object-writer.ts';
import { codeOf, isMissing } from '../shared/base/runtime/file-errors.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import {
  type ConcurrencyLimit,
  createConcurrencyLimit,
} from '../shared/base/scheduling/concurrency-limit.ts';
import { type DirectorySync, directorySync, makeDurableDirectory } from './directory-sync.ts';
import { asReadError, asStorageError } from './disk-errors.ts';
import { FileObjectWriter, writeWhole } from './file-object-writer.ts';
import { walkObjects } from './object-listing.ts';
import { bytesToKey, keyToBytes, objectPath, prefixDirectory } from './object-path.ts';

/** Each put holds an open file, and the limit of a process is often 1024. */
const MAX_CONCURRENT_PUTS = 64;
const MAX_CONCURRENT_READS = 128;
/**
 * Up to this size, a read from the page cache or a write to it (30 µs) takes less time than a switch to another thread and
 * back. Under load the switch costs a context switch each way (300 µs measured with both cores busy).
 */
const SYNC_BYTES = 256 * 1024;
/** Retries if a deletion removes the directory between its creation and the link. */
const MAX_LINK_ATTEMPTS = 10;
/** A put takes seconds, and a merge writes its output at least every few seconds. So older temporary files are from a crash. */
const LEFTOVER_AGE_MS = 15 * 60 * 1000;
const TEMPORARY_NAME = /^put-[0-9a-f]{24}$/;

const read = promisify(readWithCallback);
const fsync = promisify(fsyncWithCallback);

/** Returns the number of bytes that the system took. */
function writev(file: number, parts: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writevWithCallback(file, parts, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
}

interface FileObjectStoreOptions {
  /** Set this for a folder that is not writable. Opening then creates and removes nothing. */
  readonly readOnly?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/**
 * Opens a store in the directory `root`, and creates it if missing. Removes temporary files of crashed puts.
 */
export async function openFileObjectStore(
  root: string,
  options: FileObjectStoreOptions = {},
): Promise<ObjectStore> {
  const { clock = SYSTEM_CLOCK, ids = SYSTEM_IDS, readOnly = false } = options;
  const objects = path.resolve(root, 'objects');
  // Temporary files are in a sibling folder: a link cannot cross file systems, and a walk over the objects
  // must not see them.
  const temporary = path.resolve(root, 'temporary');
  if (!readOnly) {
    await makeDurableDirectory(objects);
    await makeDurableDirectory(temporary);
    await removeLeftovers(temporary, clock.nowMs() - LEFTOVER_AGE_MS);
  }

  const directories = directorySync(objects);
  const puts = createConcurrencyLimit(MAX_CONCURRENT_PUTS);
  const reads = createConcurrencyLimit(MAX_CONCURRENT_READS);
  const newTemporary = (): string => path.join(temporary, `put-${ids.randomHex(12)}`);

  const store: ObjectStore = {
    async putIfAbsent(key, body) {
      checkObjectKey(key);
      const target = objectPath(objects, key);
      return writing(() => puts(() => putFile(target, newTemporary(), body, directories)));
    },

    writer() {
      const writer = new FileObjectWriter({
        temporary: newTemporary(),
        putParts: (key, parts) => store.putIfAbsent(key, parts),
        async publish(key, file) {
          checkObjectKey(key);
          return puts(() => publishFile(objectPath(objects, key), file, directories));
        },
      });
      return watchedWriter(writer, writing);
    },

    async get(key) {
      checkObjectKey(key);
      return withFile(reads, objects, key, (file, size) => readAt(file, 0, size));
    },

    async getRange(key, start, end) {
      checkObjectKey(key);
      checkByteRange(start, end);
      return withFile(reads, objects, key, (file, size) => {
        if (start >= size) throw rangePastEnd(key, start, size);
        return readAt(file, start, Math.min(end, size) - start);
      });
    },

    async getTail(key, length) {
      checkObjectKey(key);
      checkTailLength(length);
      return withFile(reads, objects, key, async (file, size) => {
        const start = Math.max(0, size - length);
        return { bytes: await readAt(file, start, size - start), size };
      });
    },

    async head(key) {
      checkObjectKey(key);
      return headOf(key, objectPath(objects, key));
    },

    async delete(key) {
      checkObjectKey(key);
      const file = objectPath(objects, key);
      await writing(() => unlinkIfThere(file));
      removeEmptyDirectories(path.dirname(file), objects);
    },

    async list(prefix, { after = '', limit } = {}) {
      return listPage(objects, prefix, after, listLimit(limit));
    },
  };
  return store;
}

/** Throws StorageUnavailableError if the disk is the reason. */
async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}

async function putFile(
  target: string,
  written: string,
  body: ObjectBody,
  directories: DirectorySync,
): Promise<boolean> {
  try {
    await writeDurably(written, body);
    return await publishFile(target, written, directories);
  } finally {
    removeTemporary(written);
  }
}

/** Gives a synced file its name. */
async function publishFile(target: string, written: string, directories: DirectorySync): Promise<boolean> {
  const isNew = await linkIfAbsent(written, target);
  // Needed even if the name exists: its creator may have died before this sync, and the caller treats it as
  // stored.
  await directories.sync(path.dirname(target));
  return isNew;
}

/**
 * Creates a new file. The caller syncs its directory. Only what waits for the disk runs on another thread: the sync, and
 * a large write. Names and small writes change memory of the system, and take less time than a switch to that thread and
 * back.
 */
export async function writeDurably(file: string, body: ObjectBody): Promise<void> {
  const parts = partsOfBody(body);
  const isSmall = bytesOfBody(parts) <= SYNC_BYTES;
  const written = openSync(file, 'wx');
  try {
    await writeWhole(rest => (isSmall ? writevSync(written, rest) : writev(written, rest)), parts);
    await fsync(written);
  } finally {
    closeSync(written);
  }
}

/** Returns false if `target` exists. */
async function linkIfAbsent(written: string, target: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      linkSync(written, target);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      if (codeOf(error) !== 'ENOENT' || attempt === MAX_LINK_ATTEMPTS) throw error;
      await mkdir(path.dirname(target), { recursive: true });
    }
  }
}

// Opens and closes on this thread and reads on another: 23,000 reads of 4 KiB a second one after the other.
// Running every step on another thread gives 6,500. Open handles that are cached give 25,000, but pin objects
// that were deleted by others. The cost: if the system must load the name from the disk, the event loop waits
// for it.
function withFile<T>(
  reads: ConcurrencyLimit,
  objects: string,
  key: string,
  use: (file: number, size: number) => Promise<T>,
): Promise<T> {
  return reads(async () => {
    const file = openObject(objects, key);
    try {
      return await use(file, fstatSync(file).size);
    } catch (error) {
      throw asReadError(error);
    } finally {
      closeSync(file);
    }
  });
}

function openObject(objects: string, key: string): number {
  try {
    return openSync(objectPath(objects, key), 'r');
  } catch (error) {
    if (isMissing(error)) throw new ObjectNotFoundError(key);
    throw asReadError(error);
  }
}

async function readAt(file: number, start: number, length: number): Promise<Buffer> {
  // Does not use Node's buffer pool: a cached footer would keep 8 KiB of it alive.
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length; ) {
    const bytesRead =
      length <= SYNC_BYTES
        ? readSync(file, bytes, done, length - done, start + done)
        : (await read(file, bytes, done, length - done, start + done)).bytesRead;
    if (bytesRead === 0)
      throw new Error(`object is truncated: ends at byte ${start + done}, expected ${start + length}`);
    done += bytesRead;
  }
  return bytes;
}

async function headOf(key: string, file: string): Promise<ObjectInfo | undefined> {
  let found: Stats;
  try {
    found = await stat(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return { key, size: found.size };
}

async function listPage(objects: string, prefix: string, after: string, limit: number): Promise<ListPage> {
  const directory = prefixDirectory(objects, prefix);
  if (directory === undefined) return { objects: [] };
  const base = keyToBytes(prefix.slice(0, prefix.lastIndexOf('/') + 1));
  const bounds = { prefix: keyToBytes(prefix), after: keyToBytes(after) };
  const keys: string[] = [];
  let next: string | undefined;
  const found: Promise<ObjectInfo | undefined>[] = [];
  for await (const { path: file, keyBytes } of walkObjects(directory, base, bounds)) {
    if (keys.length === limit) {
      next = keys.at(-1);
      break;
    }
    const key = bytesToKey(keyBytes);
    keys.push(key);
    found.push(headOf(key, file));
  }
  // Omits objects that were deleted during the walk.
  const page = (await Promise.all(found)).filter(info => info !== undefined);
  return next === undefined ? { objects: page } : { objects: page, next };
}

/** Runs on another thread: if no other name of the file is left, its blocks are freed, which may wait for the disk. */
async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Ignores a failure: the object may already be durable, and a leftover temporary file does no harm. */
function removeTemporary(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}

/** Prevents that empty day directories accumulate. Stops at the first directory that is not empty. */
function removeEmptyDirectories(lowest: string, root: string): void {
  for (let directory = lowest; directory !== root; directory = path.dirname(directory)) {
    try {
      rmdirSync(directory);
    } catch (error) {
      if (isMissing(error)) continue;
      return;
    }
  }
}

async function removeLeftovers(temporary: string, beforeMs: number): Promise<void> {
  for await (const { name } of await opendir(temporary)) {
    if (!TEMPORARY_NAME.test(name)) continue;
    const file = path.join(temporary, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < beforeMs) await unlinkIfThere(file);
  }
}
