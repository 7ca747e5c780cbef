/**
 * Where one machine keeps its data: in files and SQLite below its data directory, or in a bucket of S3 and a table of
 * DynamoDB, the very stores of the functions.
 */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '../shared/base/ports/object-store.ts';
import { StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import type { Table } from '../shared/base/ports/table.ts';
import { systemClock, systemIds } from '../shared/base/runtime/system-clock.ts';
import type { PlaceMark } from '../shared/upkeep/integrity/lost-catalog.ts';
import { Disk, type DiskPort } from './disk.ts';
import { asStorageError } from './disk-errors.ts';
import { diskPort } from './disk-port.ts';
import { openFileObjectStore, writeDurably } from './file-object-store.ts';
import { openSqliteTable, type SqliteTable } from './sqlite-table.ts';
import { openThreadTable, type ThreadTableOptions } from './threads/table-client.ts';

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
  /** Undefined where there is none of this machine, and where nobody watches it. */
  readonly disk?: Disk | undefined;
  /** Opened to read alone, because the disk cannot be written. */
  readonly readOnly: boolean;
  /** That a store has begun in this place. */
  readonly mark: PlaceMark;
  /** See SqliteTable.check; undefined where the table is no file of this machine. */
  readonly checkTable?: (full: boolean) => Promise<readonly string[]>;
  /** See SqliteTable.fold; undefined where the table is no file of this machine. */
  readonly foldTable?: () => Promise<boolean>;
  /** See ThreadTable; to be called before others ask for commits. Undefined if it has no thread. */
  readonly startTableThread?: (() => void) | undefined;
  close(): Promise<void>;
}

/** Of the table, for a thread that reads it now and then. */
export const SMALL_TABLE_CACHE_BYTES = 8 * 1024 * 1024;

/** Beside the folders of the object store, in the data directory. */
export const TABLE_FILE = 'catalog.sqlite';

/** The mark of a place with a store (PlaceMark): a file in the data directory, or an object, whose key is no tenant's. */
const MARK = 'store-begun';

export interface OpenStorageOptions {
  /**
   * For the thread that serves, and not for a command that ends soon: a table in a file commits in a thread of its own, and the
   * disk is watched.
   */
  readonly serves?: boolean;
  /** Of a table in a file. */
  readonly tableCacheBytes?: number;
  /** Other stores and another disk in the place of those of the data directory: for tests in which these fail. */
  readonly replaced?: ReplacedStorage;
  /** Called when the thread that commits to the table ended by itself, and is started again. */
  readonly onTableLost?: (error: Error) => void;
}

export interface ReplacedStorage {
  readonly table?: (table: SqliteTable) => SqliteTable;
  readonly disk?: DiskPort;
  /** File of the thread that commits to the table. */
  readonly tableEntry?: URL;
}

/** Throws StorageSetupError where the bucket or the table is missing. */
export function openStorage(options: StorageOptions, how: OpenStorageOptions = {}): Promise<Storage> {
  return options.kind === 's3' ? openS3(options) : openEmbedded(options, how);
}

async function openEmbedded(
  { dataDir }: EmbeddedStorageOptions,
  { serves = false, tableCacheBytes, replaced = {}, onTableLost }: OpenStorageOptions,
): Promise<Storage> {
  await mkdir(dataDir, { recursive: true });
  const disk = serves
    ? new Disk({ port: replaced.disk ?? diskPort(dataDir, [join(dataDir, TABLE_FILE)]), clock: systemClock })
    : undefined;
  // Where it is full this makes space for the table to be opened.
  await disk?.check();
  const opened = await openFiles(dataDir, {
    serves,
    tableCacheBytes,
    thread: { entry: replaced.tableEntry, onLost: onTableLost },
    readOnly: disk?.problem === 'read-only',
  });
  const { readOnly } = opened;
  if (opened.cause !== undefined) disk?.note(opened.cause);
  const { store } = opened;
  const table = replaced.table?.(opened.table) ?? opened.table;
  return {
    store: disk === undefined ? store : notingStore(store, disk),
    table: disk === undefined ? table : notingTable(table, disk),
    disk,
    readOnly,
    mark: {
      isSet: async () => (await stat(join(dataDir, MARK)).catch(() => undefined)) !== undefined,
      set: () =>
        writeDurably(join(dataDir, MARK), new Uint8Array(0)).catch((error: unknown) => {
          throw asStorageError(error);
        }),
    },
    checkTable: full => table.check(full),
    foldTable: () => table.fold(),
    startTableThread: opened.startTableThread,
    close: () => table.close(),
  };
}

interface OpenedFiles {
  readonly store: ObjectStore;
  readonly table: SqliteTable;
  readonly startTableThread?: () => void;
  readonly readOnly: boolean;
  /** Why it could not be opened to write. */
  readonly cause?: unknown;
}

/** To write where that can be; else to read, so that what is stored can be queried all the same. */
async function openFiles(
  dataDir: string,
  how: {
    readonly serves: boolean;
    readonly tableCacheBytes: number | undefined;
    readonly thread: Pick<ThreadTableOptions, 'entry' | 'onLost'>;
    readonly readOnly: boolean;
  },
): Promise<OpenedFiles> {
  const file = join(dataDir, TABLE_FILE);
  const { serves, tableCacheBytes: cacheBytes } = how;
  const options = cacheBytes === undefined ? {} : { cacheBytes };
  let cause: unknown;
  if (!how.readOnly) {
    try {
      const store = await openFileObjectStore(dataDir);
      if (!serves) return { store, table: await openSqliteTable(file, options), readOnly: false };
      const table = await openThreadTable(file, { ...how.thread, startsLater: true });
      return { store, table, startTableThread: () => table.startThread(), readOnly: false };
    } catch (error) {
      cause = asStorageError(error);
      if (!(cause instanceof StorageUnavailableError)) throw error;
    }
  }
  try {
    const store = await openFileObjectStore(dataDir, { readOnly: true });
    return {
      store,
      table: await openSqliteTable(file, { ...options, readOnly: true }),
      readOnly: true,
      cause,
    };
  } catch (error) {
    throw cause ?? error;
  }
}

/** Tells the disk of failed writes. */
async function noting<T>(disk: Disk, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    disk.note(error);
    throw error;
  }
}

function notingStore(store: ObjectStore, disk: Disk): ObjectStore {
  return {
    ...store,
    putIfAbsent: (key, body) => noting(disk, () => store.putIfAbsent(key, body)),
    delete: key => noting(disk, () => store.delete(key)),
  };
}

function notingTable(table: Table, disk: Disk): Table {
  return {
    isDistant: table.isDistant,
    get: key => table.get(key),
    query: (pk, options) => table.query(pk, options),
    put: (item, condition) => noting(disk, () => table.put(item, condition)),
    delete: (key, condition) => noting(disk, () => table.delete(key, condition)),
    transact: writes => noting(disk, () => table.transact(writes)),
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
  const { store, table } = storage;
  return {
    store,
    table,
    readOnly: false,
    mark: {
      isSet: async () => (await store.head(MARK)) !== undefined,
      async set() {
        await store.putIfAbsent(MARK, new Uint8Array(0));
      },
    },
    close: async () => storage.close(),
  };
}
