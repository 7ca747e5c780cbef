/**
 * Where one machine keeps its data: in files and SQLite below its data directory, or in a bucket of S3 and a table of
 * DynamoDB, the very stores of the functions.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '../shared/ports/object-store.ts';
import type { Table } from '../shared/ports/table.ts';
import { openFileObjectStore } from './file-object-store.ts';
import { openSqliteTable } from './sqlite-table.ts';
import { systemClock, systemIds } from './system-clock.ts';
import { openThreadTable } from './thread-table.ts';

export type StorageOptions = EmbeddedStorageOptions | S3StorageOptions;

export interface EmbeddedStorageOptions {
  readonly kind: 'embedded';
  readonly dataDir: string;
}

export interface S3StorageOptions {
  readonly kind: 's3';
  readonly bucket: string;
  readonly table: string;
  /** Another place than AWS, for example `http://localhost:4566`. */
  readonly endpoint?: string;
  /** Where DynamoDB is elsewhere than `endpoint`, for example DynamoDB Local. */
  readonly dynamoDbEndpoint?: string;
  readonly region?: string;
  /** Makes bucket and table where they are missing. Default: where there is an endpoint, so for emulators alone. */
  readonly createMissing?: boolean;
}

export interface Storage {
  readonly store: ObjectStore;
  readonly table: Table;
  /** See SqliteTable.check; undefined where the table is no file of this machine. */
  readonly checkTable?: (full: boolean) => Promise<readonly string[]>;
  /** See SqliteTable.fold; undefined where the table is no file of this machine. */
  readonly foldTable?: () => Promise<boolean>;
  close(): Promise<void>;
}

/** Of the table, for a thread that reads it now and then. */
export const SMALL_TABLE_CACHE_BYTES = 8 * 1024 * 1024;

/** Beside the folders of the object store, in the data directory. */
export const TABLE_FILE = 'catalog.sqlite';

export interface OpenStorageOptions {
  /** A table in a file commits in a thread of its own: for a thread that serves, and not for a command that ends soon. */
  readonly commitsInThread?: boolean;
  /** Of a table in a file. */
  readonly tableCacheBytes?: number;
}

/** Throws StorageSetupError where the bucket or the table is missing. */
export function openStorage(options: StorageOptions, how: OpenStorageOptions = {}): Promise<Storage> {
  return options.kind === 's3' ? openS3(options) : openEmbedded(options, how);
}

async function openEmbedded(
  { dataDir }: EmbeddedStorageOptions,
  { commitsInThread = false, tableCacheBytes: cacheBytes }: OpenStorageOptions,
): Promise<Storage> {
  await mkdir(dataDir, { recursive: true });
  const store = await openFileObjectStore(dataDir);
  const file = join(dataDir, TABLE_FILE);
  const table = await (commitsInThread
    ? openThreadTable(file)
    : openSqliteTable(file, cacheBytes === undefined ? {} : { cacheBytes }));
  return {
    store,
    table,
    checkTable: full => table.check(full),
    foldTable: () => table.fold(),
    close: () => table.close(),
  };
}

async function openS3(options: S3StorageOptions): Promise<Storage> {
  const { createMissing = options.endpoint !== undefined } = options;
  // Loaded here alone: the SDK takes longer to load than the embedded store to start.
  const { openAwsStorage } = await import('../shared/aws/storage.ts');
  const storage = openAwsStorage({ ...options, clock: systemClock, ids: systemIds });
  try {
    await (createMissing ? storage.createMissing() : storage.check());
  } catch (error) {
    storage.close();
    throw error;
  }
  return { store: storage.store, table: storage.table, close: async () => storage.close() };
}
