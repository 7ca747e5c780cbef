/** Waiting for another process that holds the lock of a SQLite file, without holding up the event loop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CorruptionError } from '../shared/base/model/errors.ts';
import { ThrottledError } from '../shared/base/ports/throttled.ts';
import { asReadError } from './disk-errors.ts';

/** About 8 s, the waits of SQLite itself included: a commit takes ms, so more means a process that hangs. */
const MAX_ATTEMPTS = 200;
const MAX_PAUSE_MS = 40;

/** SQLite's result codes; the low byte is the primary code. */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

export function isBusy(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return false;
  if (typeof error.errcode !== 'number') return false;
  const primary = error.errcode & 0xff;
  return primary === SQLITE_BUSY || primary === SQLITE_LOCKED;
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** The file is damaged, or no database at all. */
function isDamage(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return false;
  if (typeof error.errcode !== 'number') return false;
  const primary = error.errcode & 0xff;
  return primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB;
}

/**
 * Runs `work`, again while the database is busy. Throws ThrottledError when it stays so, CorruptionError if the database is
 * damaged, and StorageUnavailableError if the disk fails.
 */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (isDamage(error)) throw new CorruptionError(`the catalog: ${error.message}`);
      if (!isBusy(error)) throw asReadError(error);
      if (attempt === MAX_ATTEMPTS)
        throw new ThrottledError('the catalog database is locked by another process; retry', {
          cause: error,
        });
    }
    // Not the clock of the port: the lock is held in real time. Random, so that two waiters do not meet again.
    await sleep(Math.random() * MAX_PAUSE_MS);
  }
}
