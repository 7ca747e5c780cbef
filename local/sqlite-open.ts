/**
 * Opens the database of the local table: durability, sharing between processes, the schema and its version.
 *
 * It is an ordinary table with an index of its keys, not WITHOUT ROWID. With bodies of 1 KB, WITHOUT ROWID
 * reached 25,000 puts a second in batches instead of 117,000. Its file was three times as large, because few
 * such rows fit its pages.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { CorruptionError, messageOf } from '../shared/base/model/errors.ts';
import { makeDurableDirectory } from './directory-sync.ts';
import { asStorageError } from './disk-errors.ts';
import { retryWhileBusy } from './sqlite-busy.ts';

/** Raise it with every change of the schema, and add the step that upgrades an older file. */
const SCHEMA_VERSION = 1;

/**
 * Time that SQLite itself waits for another process, on the thread of requests. The caller handles longer
 * waits.
 */
const BUSY_TIMEOUT_MS = 20;
/** A checkpoint every 256 KiB of log. The commit that runs it then takes only a few ms. */
const CHECKPOINT_PAGES = 64;
/**
 * Size to which the log shrinks after a checkpoint, for example after one large transaction. Well above its usual size at
 * a checkpoint: otherwise it is cut and extended again each time, and each commit in between changes the size of a file.
 */
const MAX_LOG_BYTES = 512 * 1024;
const CACHE_BYTES = 32 * 1024 * 1024;

// synchronous=FULL: a commit is synced before it resolves. secure_delete: deleted data is overwritten.
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
  PRAGMA journal_size_limit = ${MAX_LOG_BYTES};
`;

// Text compares by memcmp of its UTF-8 bytes, which is the order that the port requires.
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

interface OpenDatabaseOptions {
  /** Size of the page cache of this connection. */
  readonly cacheBytes?: number | undefined;
  /** Set this for a folder that is not writable. Opening then changes and creates nothing. */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens the file, and creates it if missing. Throws if a newer Logboom wrote it, CorruptionError if it is
 * damaged or not a database, and StorageUnavailableError if the disk fails.
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
 * Opens the file read-only, with its write-ahead log if one exists. Without one, SQLite would create it,
 * unless the immutable flag says that the file cannot change. On a read-only disk it cannot.
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
  const message = `cannot open the catalog ${file}: ${messageOf(error)}`;
  if (error instanceof CorruptionError) return new CorruptionError(message);
  const cause = new Error(message, { cause: error });
  return asStorageError(cause);
}

/** Schema version of the file. Throws if it is newer than this program. */
function checkVersion(database: DatabaseSync, file: string): number {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version <= SCHEMA_VERSION) return version;
  throw new Error(
    `${file} has schema version ${version}, this program supports up to ${SCHEMA_VERSION}; upgrade Logboom`,
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
