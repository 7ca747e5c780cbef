/**
 * Opens the database of the local table: durability, sharing between processes, the schema and its version.
 *
 * An ordinary table with an index of its keys, not WITHOUT ROWID: measured with bodies of 1 KB, the latter took 25,000
 * puts a second in batches against 117,000 and a file three times as large, because few such rows fit its pages.
 */
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CorruptionError, messageOf } from '../shared/model/errors.ts';
import { makeDurableDirectory } from './directory-sync.ts';
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

/**
 * Opens the file, and makes it where missing.
 * @param cacheBytes pages of the file that this connection keeps
 * Throws where a newer Logboom has written it; CorruptionError where it is no
 * database or damaged.
 */
export async function openDatabase(file: string, cacheBytes = CACHE_BYTES): Promise<DatabaseSync> {
  await makeDurableDirectory(path.dirname(path.resolve(file)));
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    await retryWhileBusy(() => database.exec('PRAGMA journal_mode = WAL'));
    await retryWhileBusy(() => database.exec(SETTINGS));
    database.exec(`PRAGMA cache_size = -${Math.floor(cacheBytes / 1024)}`);
    await retryWhileBusy(() => ensureSchema(database, file));
    return database;
  } catch (error) {
    database.close();
    const message = `cannot open table ${file}: ${messageOf(error)}`;
    throw error instanceof CorruptionError
      ? new CorruptionError(message)
      : new Error(message, { cause: error });
  }
}

function ensureSchema(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const row = database.prepare('PRAGMA user_version').get();
    const version = Number(row?.user_version);
    if (version > SCHEMA_VERSION) {
      throw new Error(
        `${file} has schema version ${version}, this program knows up to ${SCHEMA_VERSION}: use a newer one`,
      );
    }
    if (version === 0) database.exec(SCHEMA);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
