/**
 * Storage of one machine: files and SQLite in its data directory, or an S3 bucket and a DynamoDB table, the
 * same stores that the functions use.
 */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { ObjectStore } from '../shared/base/ports/object-store.ts';
import { watchedWriter } from '../shared/base/ports/object-writer.ts';
import { StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import type { Table } from '../shared/base/ports/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import type { StoreMark } from '../shared/upkeep/integrity/lost-catalog.ts';
import { Disk, type DiskPort } from './disk.ts';
import { asStorageError } from './disk-errors.ts';
import { diskPort } from './disk-port.ts';
import { openFileObjectStore, writeDurably } from './file-object-store.ts';
import { openSqliteTable, type SqliteTable } from './sqlite-table.ts';
import { openThreadTable, type ThreadTableOptions } from './threads/table-client.ts';

export type StorageOptions = EmbeddedStorageOptions | S3StorageOptions;

interface EmbeddedStorageOptions {
  readonly kind: 'embedded';
  readonly dataDir: string;
}

interface S3StorageOptions {
  readonly kind: 's3';
  readonly bucket: string;
  readonly table: string;
  /** Endpoint instead of AWS, for example `http://localhost:4566`. */
  readonly endpoint?: string;
  /** Endpoint of DynamoDB if it differs from `endpoint`, for example DynamoDB Local. */
  readonly dynamoDbEndpoint?: string;
  readonly region?: string;
  /** Creates the bucket and table if missing. Default: only with an endpoint, so for emulators. */
  readonly createMissing?: boolean;
}

export interface OpenedStorage {
  readonly store: ObjectStore;
  readonly table: Table;
  /** `undefined` if the data is not on this machine or the disk is not watched. */
  readonly disk?: Disk | undefined;
  /** True if opened read-only, because the disk is not writable. */
  readonly readOnly: boolean;
  /** Marks that a store exists in this location. */
  readonly mark: StoreMark;
  /** See SqliteTable.check; `undefined` if the table is not a file of this machine. */
  readonly checkTable?: (full: boolean) => Promise<readonly string[]>;
  /** See SqliteTable.fold; `undefined` if the table is not a file of this machine. */
  readonly foldTable?: () => Promise<boolean>;
  /**
   * See ThreadTable. Call it before other threads request commits. `undefined` if the table has no thread.
   */
  readonly startTableThread?: (() => void) | undefined;
  /** See ThreadTable.connect; `undefined` if all commits must go through `table`. */
  readonly connectTable?: (() => Promise<MessagePort>) | undefined;
  close(): Promise<void>;
}

/** Table cache of a thread that reads it occasionally. */
export const SMALL_TABLE_CACHE_BYTES = 8 * 1024 * 1024;

/** File name of the table in the data directory, next to the folders of the object store. */
export const TABLE_FILE = 'catalog.sqlite';

/**
 * Name of the mark (StoreMark): a file in the data directory, or an object whose key belongs to no tenant.
 */
const MARK = 'store-begun';

interface OpenStorageOptions {
  /**
   * Set this for a server, not for a short command: the table commits in a separate thread, and the disk is
   * watched.
   */
  readonly serves?: boolean;
  /** Cache size of a table in a file. */
  readonly tableCacheBytes?: number;
  /** Replaces the stores and the disk, for tests in which these fail. */
  readonly replaced?: ReplacedStorage;
  /** Called when the thread that commits to the table ended unexpectedly. It is restarted. */
  readonly onTableLost?: (error: Error) => void;
}

export interface ReplacedStorage {
  readonly table?: (table: SqliteTable) => SqliteTable;
  readonly disk?: DiskPort;
  /** File of the thread that commits to the table. */
  readonly tableEntry?: URL;
}

/** Throws StorageSetupError if the bucket or the table is missing. */
export function openStorage(options: StorageOptions, how: OpenStorageOptions = {}): Promise<OpenedStorage> {
  return options.kind === 's3' ? openS3(options) : openEmbedded(options, how);
}

async function openEmbedded(
  { dataDir }: EmbeddedStorageOptions,
  { serves = false, tableCacheBytes, replaced = {}, onTableLost }: OpenStorageOptions,
): Promise<OpenedStorage> {
  await mkdir(dataDir, { recursive: true });
  const disk = serves
    ? new Disk({ port: replaced.disk ?? diskPort(dataDir, [join(dataDir, TABLE_FILE)]), clock: SYSTEM_CLOCK })
    : undefined;
  // On a full disk, this frees the space to open the table.
  await disk?.check();
  const opened = await openFiles(dataDir, {
    serves,
    tableCacheBytes,
    thread: { entry: replaced.tableEntry, onLost: onTableLost },
    readOnly: disk?.problem === 'read-only',
  });
  const { readOnly } = opened;
  if (opened.cause !== undefined) disk?.noteError(opened.cause);
  const { store } = opened;
  const table = replaced.table?.(opened.table) ?? opened.table;
  return {
    store: disk === undefined ? store : watchedStore(store, disk),
    table: disk === undefined ? table : watchedTable(table, disk),
    disk,
    readOnly,
    mark: {
      isSet: async () => (await stat(join(dataDir, MARK)).catch(() => undefined)) !== undefined,
      set: () =>
        writeDurably(join(dataDir, MARK), new Uint8Array(0)).catch((error: unknown) => {
          // Another process that starts at the same time has set it.
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw asStorageError(error);
        }),
    },
    checkTable: full => table.check(full),
    foldTable: () => table.fold(),
    startTableThread: opened.startTableThread,
    // A replaced table must see all commits.
    connectTable: replaced.table === undefined ? opened.connectTable : undefined,
    close: () => table.close(),
  };
}

interface OpenedFiles {
  readonly store: ObjectStore;
  readonly table: SqliteTable;
  readonly startTableThread?: () => void;
  readonly connectTable?: () => Promise<MessagePort>;
  readonly readOnly: boolean;
  /** Reason why it could not be opened for writing. */
  readonly cause?: unknown;
}

/** Opens the files for writing if possible, otherwise read-only, so that stored data can still be queried. */
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
      return {
        store,
        table,
        startTableThread: () => table.startThread(),
        connectTable: () => table.connect(),
        readOnly: false,
      };
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

/** Reports failed writes to the disk. */
async function watched<T>(disk: Disk, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    disk.noteError(error);
    throw error;
  }
}

function watchedStore(store: ObjectStore, disk: Disk): ObjectStore {
  return {
    ...store,
    putIfAbsent: (key, body) => watched(disk, () => store.putIfAbsent(key, body)),
    writer: store.writer && (() => watchedWriter(store.writer!(), work => watched(disk, work))),
    delete: key => watched(disk, () => store.delete(key)),
  };
}

function watchedTable(table: Table, disk: Disk): Table {
  return {
    isDistant: table.isDistant,
    get: key => table.get(key),
    query: (pk, options) => table.query(pk, options),
    put: (item, condition) => watched(disk, () => table.put(item, condition)),
    delete: (key, condition) => watched(disk, () => table.delete(key, condition)),
    transact: writes => watched(disk, () => table.transact(writes)),
  };
}

async function openS3(options: S3StorageOptions): Promise<OpenedStorage> {
  const { createMissing = options.endpoint !== undefined } = options;
  // Imported only here: the SDK takes longer to load than the embedded store takes to start.
  const { openAwsStorage } = await import('../shared/aws/storage.ts');
  const storage = openAwsStorage({ ...options, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
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
