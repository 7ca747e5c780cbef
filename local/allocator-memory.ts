/**
 * Returns free memory of glibc's allocator to the system. By itself, the allocator returns large buffers and
 * the end of an arena only. Small buffers of different ages share the arena, so most of its free memory lies
 * between buffers in use: 79 of 192 MB after 45 minutes at 2 MB/s. `malloc_trim` (malloc_trim(3)) returns
 * every free page inside it.
 *
 * Node.js has no function for this and cannot call C, but the SQLite in Node.js can: to load an extension, it
 * opens a library and calls a function of it with three pointers. `malloc_trim` takes one number, the bytes
 * that stay free at the end of the arena. A pointer is more than any arena has, so the end stays as it is.
 * Its result is 1 if memory was returned; SQLite reports that as an error of the extension.
 *
 * Why not a package with native code: docs/dev/decisions/0012-free-memory-of-the-allocator.md.
 */
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../shared/base/model/errors.ts';
import type { Clock } from '../shared/base/ports/clock.ts';

/** A call takes 2 to 10 ms, 0.1 to 0.2% of a core. In 10 s, a load of 2 MB/s frees up to 40 MB. Threads that allocate wait. */
const PERIOD_MS = 5_000;
const LIBRARY = 'libc.so.6';
const FUNCTION = 'malloc_trim';
/** SQLite's message if the function returned 1. If the library or the function is missing, it names the cause. */
const RETURNED_ONE = /error during initialization/;

/** Returns free memory to the system periodically. Resolves when the signal aborts, or if it cannot. */
export async function keepAllocatorSmall(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && returnFreeMemory()) {
    await clock.sleep(PERIOD_MS, signal).catch(() => undefined);
  }
}

/** Returns whether the allocator can do it. Those of other systems, and of Alpine Linux, cannot. */
export function returnFreeMemory(): boolean {
  if (process.platform !== 'linux') return false;
  let database: DatabaseSync | undefined;
  try {
    // A new one each time, because it keeps a list of its extensions.
    database = new DatabaseSync(':memory:', { allowExtension: true });
    database.loadExtension(LIBRARY, FUNCTION);
    return true;
  } catch (error) {
    return RETURNED_ONE.test(messageOf(error));
  } finally {
    database?.close();
  }
}
