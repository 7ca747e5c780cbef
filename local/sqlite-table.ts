/**
 * Table of one machine, in a SQLite file that several processes may share. Reads see committed writes. Writes
 * are committed in groups (shared-transaction.ts) and synced before they resolve.
 *
 * Pitfall: SQLite runs on the event loop. A commit blocks it for one sync (measured 0.2 ms; a slow disk takes
 * 10 ms). A commit that also folds 4 MiB of log into the file blocks it for 10 to 30 ms. For that reason the
 * store commits in another thread (threads/table-client.ts).
 */
import type { DatabaseSync } from 'node:sqlite';
import { compareUtf8 } from '../shared/base/model/bytes.ts';
import { CorruptionError } from '../shared/base/model/errors.ts';
import type { Clock } from '../shared/base/ports/clock.ts';
import {
  ConditionFailedError,
  type ItemKey,
  type QueryOptions,
  type Table,
  type Write,
} from '../shared/base/ports/table.ts';
import {
  checkItem,
  checkItemKey,
  checkQuery,
  checkTransaction,
  conditionHolds,
  isExpired,
  itemBytes,
  keyOfWrite,
  queryLimit,
  sweepLimit,
} from '../shared/base/ports/table-rules.ts';
import { SYSTEM_CLOCK } from '../shared/base/runtime/system-clock.ts';
import { asStorageError } from './disk-errors.ts';
import { sharedTransaction } from './shared-transaction.ts';
import { retryWhileBusy } from './sqlite-busy.ts';
import { openDatabase } from './sqlite-open.ts';
import { HEAD_COLUMNS, type HeadRow, itemOfRow, pageOf, pageOfKnown } from './sqlite-page.ts';

/**
 * Replaces any empty body: one that arrived from another thread has no memory, and SQLite in Node 22 stores
 * that as NULL.
 */
const EMPTY_BODY = new Uint8Array(0);

export interface SqliteTable extends Table {
  /**
   * Deletes up to `limit` (default and maximum 1000) expired items, oldest first. Resolves to the number of
   * deleted items.
   */
  sweep(limit?: number): Promise<number>;
  /**
   * Problems that SQLite itself finds in the file, at most 20 messages; empty if it is sound. `full` also
   * compares the table with its indexes, which finds keys that were changed in place. It reads the whole file
   * on this thread.
   */
  check(full: boolean): Promise<readonly string[]>;
  /**
   * Folds the log into the file and empties it, so that neither contains deleted data: the file overwrites
   * it, but the log would keep it until later writes. Resolves to false if another process reads or writes
   * meanwhile. Then retry later.
   */
  fold(): Promise<boolean>;
  /** Waits for running writes, folds the log into the file and closes it. */
  close(): Promise<void>;
}

interface SqliteTableOptions {
  /** Clock that decides what has expired. */
  readonly clock?: Clock;
  /** See OpenDatabaseOptions. */
  readonly cacheBytes?: number;
  /** True if writes throw StorageUnavailableError. */
  readonly readOnly?: boolean;
}

/** Greater than every text: SQLite orders blobs after all texts. */
const ABOVE_ALL_KEYS = new Uint8Array(0);

/** Opens `file`. Creates it and its directory if missing. */
export async function openSqliteTable(file: string, options: SqliteTableOptions = {}): Promise<SqliteTable> {
  const { clock = SYSTEM_CLOCK, cacheBytes, readOnly = false } = options;
  const database = await openDatabase(file, { cacheBytes, readOnly });
  const statements = prepareStatements(database);
  const group = sharedTransaction({
    begin: () => statements.begin.run(),
    commit: () => statements.commit.run(),
    rollback: () => {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
  });
  let closing: Promise<void> | undefined;

  const storedVersion = ({ pk, sk }: ItemKey, nowMs: number): number | undefined => {
    const row = statements.version.get(pk, sk);
    return row === undefined || isExpired(row.expires_at as number | null, nowMs)
      ? undefined
      : (row.version as number);
  };

  /**
   * Runs inside a transaction of the group. Checks all conditions first, so that a failed one leaves nothing
   * to undo.
   */
  const applyAll = (writes: readonly Write[]): void => {
    const nowMs = clock.nowMs();
    for (let index = 0; index < writes.length; index++) {
      const { condition } = writes[index];
      if (condition === undefined) continue;
      const key = keyOfWrite(writes[index]);
      if (!conditionHolds(condition, storedVersion(key, nowMs))) throw new ConditionFailedError(key, index);
    }
    for (const write of writes) {
      if (write.kind === 'put') {
        const { pk, sk, version, expiresAt = null, body } = write.item;
        statements.put.run(pk, sk, version, expiresAt, body.length > 0 ? body : EMPTY_BODY);
      }
      if (write.kind === 'delete') statements.delete.run(write.key.pk, write.key.sk);
    }
  };

  const writeAll = (writes: readonly Write[]): Promise<void> => {
    let bytes = 0;
    for (const write of writes) if (write.kind === 'put') bytes += itemBytes(write.item);
    return group.write(bytes, () => applyAll(writes));
  };

  return {
    async get(key) {
      checkItemKey(key);
      const row = await retryWhileBusy(() => statements.get.get(key.pk, key.sk));
      if (row === undefined) return undefined;
      const item = itemOfRow(key.pk, row);
      return isExpired(item.expiresAt, clock.nowMs()) ? undefined : item;
    },

    async query(pk, query = {}) {
      checkQuery(pk, query);
      const statement = query.reverse ? statements.queryDown : statements.queryUp;
      const [low, high] = sortKeyBounds(query);
      const limit = queryLimit(query.limit);
      const { known } = query;
      // Reads one extra row to detect whether a next page exists.
      return retryWhileBusy(() => {
        if (known !== undefined && query.reverse !== true) {
          const heads = statements.heads.all(pk, low, high, limit + 1) as unknown as HeadRow[];
          const page = pageOfKnown(pk, heads, limit, known, sk => statements.get.get(pk, sk));
          if (page !== undefined) return page;
        }
        return pageOf(pk, statement.iterate(pk, low, high, limit + 1), limit, clock.nowMs());
      });
    },

    async put(item, condition) {
      checkItem(item);
      return writeAll([{ kind: 'put', item, condition }]);
    },

    async delete(key, condition) {
      checkItemKey(key);
      return writeAll([{ kind: 'delete', key, condition }]);
    },

    async transact(writes) {
      checkTransaction(writes);
      if (writes.length > 0) await writeAll(writes);
    },

    async sweep(limit) {
      const most = sweepLimit(limit);
      return group.write(0, () => {
        const nowSeconds = Math.floor(clock.nowMs() / 1000);
        return Number(statements.sweep.run(nowSeconds, most).changes);
      });
    },

    async fold() {
      try {
        const row = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
        return row?.busy === 0;
      } catch (error) {
        throw asStorageError(error);
      }
    },

    async check(full) {
      try {
        const rows = await retryWhileBusy(() =>
          database.prepare(`PRAGMA ${full ? 'integrity_check' : 'quick_check'}(20)`).all(),
        );
        const messages = rows.flatMap(row => Object.values(row).map(String));
        return messages.filter(message => message !== 'ok');
      } catch (error) {
        if (error instanceof CorruptionError) return [error.message];
        throw error;
      }
    },

    close() {
      closing ??= group.close().then(() => (readOnly ? database.close() : closeDatabase(database)));
      return closing;
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const rows = 'FROM items WHERE pk = ? AND sk >= ? AND sk < ? ORDER BY sk';
  const range = `SELECT sk, version, expires_at, body ${rows}`;
  const heads = database.prepare(`SELECT ${HEAD_COLUMNS} ${rows} ASC LIMIT ?`);
  heads.setReturnArrays(true);
  return {
    heads,
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    version: database.prepare('SELECT version, expires_at FROM items WHERE pk = ? AND sk = ?'),
    get: database.prepare('SELECT sk, version, expires_at, body FROM items WHERE pk = ? AND sk = ?'),
    queryUp: database.prepare(`${range} ASC LIMIT ?`),
    queryDown: database.prepare(`${range} DESC LIMIT ?`),
    put: database.prepare(
      'INSERT INTO items (pk, sk, version, expires_at, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (pk, sk) ' +
        'DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at, body = excluded.body',
    ),
    delete: database.prepare('DELETE FROM items WHERE pk = ? AND sk = ?'),
    sweep: database.prepare(
      'DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires_at IS NOT NULL AND expires_at <= ? ' +
        'ORDER BY expires_at LIMIT ?)',
    ),
  };
}

/**
 * First sort key (inclusive) and end of the sort keys (exclusive), without the keys that `after` has passed.
 */
function sortKeyBounds({ from = '', to, after, reverse }: QueryOptions): [string, string | Uint8Array] {
  if (after === undefined) return [from, to ?? ABOVE_ALL_KEYS];
  if (reverse) return [from, to === undefined || compareUtf8(after, to) < 0 ? after : to];
  // Next text in byte order after `after`.
  const above = after + '\0';
  return [compareUtf8(above, from) > 0 ? above : from, to ?? ABOVE_ALL_KEYS];
}

function closeDatabase(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}
