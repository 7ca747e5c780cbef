/** Waits for another process that holds the lock of a SQLite file, without blocking the event loop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CorruptionError } from '../shared/base/model/errors.ts';
import { ThrottledError } from '../shared/base/ports/throttled.ts';
import { asReadError } from './disk-errors.ts';

/**
 * About 8 s including the waits of SQLite. A commit takes ms, so a longer lock means that the process hangs.
 */
const MAX_ATTEMPTS = 200;
const MAX_PAUSE_MS = 40;

/** Result codes of SQLite. The low byte is the primary code. */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

function isBusy(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return false;
  if (typeof error.errcode !== 'number') return false;
  const primary = error.errcode & 0xff;
  return primary === SQLITE_BUSY || primary === SQLITE_LOCKED;
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Checks whether the file is damaged or not a database. */
function isDamage(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return false;
  if (typeof error.errcode !== 'number') return false;
  const primary = error.errcode & 0xff;
  return primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB;
}

/**
 * Runs `work`, and repeats it while the database is busy. Throws ThrottledError if it stays busy,
 * CorruptionError if the database is damaged, and StorageUnavailableError if the disk fails.
 */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (isDamage(error)) throw new CorruptionError(`catalog database is damaged: ${error.message}`);
      if (!isBusy(error)) throw asReadError(error);
      if (attempt === MAX_ATTEMPTS)
        throw new ThrottledError('the catalog database is locked by another process; retry', {
          cause: error,
        });
    }
    // Uses real time, not the clock port, because the lock is held in real time. The pause is random, so that
    // two waiters do not collide again.
    await sleep(Math.random() * MAX_PAUSE_MS);
  }
}
