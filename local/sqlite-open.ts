/**
 * Opens the database of the local table: durability, sharing between processes, the schema and its version.
 *
 * An ordinary table with an index of its keys, not WITHOUT ROWID: measured with bodies of 1 KB, the latter took 25,000
 * puts a second in batches against 117,000 and a file three times as large, because few such rows fit its pages.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { CorruptionError, messageOf } from '../shared/base/model/errors.ts';
import { makeDurableDirectory } from './directory-sync.ts';
import { asStorageError } from './disk-errors.ts';
import { retryWhileBusy } from './sqlite-busy.ts';

/** Raise it with every change of the schema, together with the step that brings an older file up. */
export const SCHEMA_VERSION = 1;

/** How long SQLite itself waits for another process, on the thread of requests; longer waits are the caller's. */
const BUSY_TIMEOUT_MS = 20;
/** A checkpoint each 256 KiB of log keeps a commit that has to do it within some ms. */
const CHECKPOINT_PAGES = 64;
/** The log is cut back to this after a checkpoint, should one large transaction have grown it. */
const MAX_LOG_BYTES = 256 * 1024;
const CACHE_BYTES = 32 * 1024 * 1024;

// synchronous=FULL: a commit is synced before it is answered. secure_delete: what was deleted is overwritten.
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
  PRAGMA journal_size_limit = ${MAX_LOG_BYTES};
`;

// Text compares by memcmp of its UTF-8 bytes, which is the order that the port asks for.
const SCHEMA = `
  CREATE TABLE items (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER,
    body BLOB NOT NULL,
    PRIMARY KEY (pk, sk)
  ) STRICT;
  CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

export interface OpenDatabaseOptions {
  /** Pages of the file that this connection keeps. */
  readonly cacheBytes?: number | undefined;
  /** For a folder that cannot be written: changes and makes nothing. */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens the file, and makes it where missing. Throws where a newer Logboom has written it; CorruptionError where it is no database or
 * damaged, StorageUnavailableError where the disk is what is wrong.
 */
export async function openDatabase(
  file: string,
  { cacheBytes = CACHE_BYTES, readOnly = false }: OpenDatabaseOptions = {},
): Promise<DatabaseSync> {
  const database = readOnly ? openReadOnly(file) : await openToWrite(file);
  try {
    if (readOnly) {
      await retryWhileBusy(() => checkVersion(database, file));
      database.exec(`PRAGMA cache_size = -${Math.floor(cacheBytes / 1024)}`);
      return database;
    }
    await retryWhileBusy(() => database.exec('PRAGMA journal_mode = WAL'));
    await retryWhileBusy(() => database.exec(SETTINGS));
    database.exec(`PRAGMA cache_size = -${Math.floor(cacheBytes / 1024)}`);
    await retryWhileBusy(() => ensureSchema(database, file));
    return database;
  } catch (error) {
    database.close();
    throw openingError(file, error);
  }
}

async function openToWrite(file: string): Promise<DatabaseSync> {
  await makeDurableDirectory(path.dirname(path.resolve(file)));
  try {
    return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw openingError(file, error);
  }
}

/**
 * A log that a process left is read with the file. Without one SQLite would make one, unless it is told that nothing changes the file:
 * on a disk that cannot be written nothing does.
 */
function openReadOnly(file: string): DatabaseSync {
  const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const url = pathToFileURL(path.resolve(file));
  if (!hasLog) url.searchParams.set('immutable', '1');
  try {
    return new DatabaseSync(url, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  } catch (error) {
    throw openingError(file, error);
  }
}

function openingError(file: string, error: unknown): unknown {
  const message = `cannot open table ${file}: ${messageOf(error)}`;
  if (error instanceof CorruptionError) return new CorruptionError(message);
  const cause = new Error(message, { cause: error });
  return asStorageError(cause);
}

/** The schema version of the file. Throws where it is newer than this program. */
function checkVersion(database: DatabaseSync, file: string): number {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version <= SCHEMA_VERSION) return version;
  throw new Error(
    `${file} has schema version ${version}, this program knows up to ${SCHEMA_VERSION}: use a newer one`,
  );
}

function ensureSchema(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    if (checkVersion(database, file) === 0) database.exec(SCHEMA);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
