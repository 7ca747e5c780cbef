/**
 * SQLite table that commits in a separate thread. A sync takes 0.2 ms, or tens of ms if other files are
 * synced too, and threads that serve requests must not wait for it. This thread reads itself: readers of
 * SQLite do not wait, and see all earlier commits, including those of resolved writes.
 *
 *     put, put, transact | messages → one transaction, one sync (shared-transaction.ts) → all resolve
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { openSqliteTable, type SqliteTable } from '../sqlite-table.ts';
import { forwardedTable, movedBodies } from './forwarded-table.ts';
import type { Movable } from './messages.ts';
import { MAX_PENDING_COMMITS } from './table-port.ts';
import type { TableCall, TableThreadData, TableThreadResult } from './table-thread.ts';
import { ThreadClient } from './thread-client.ts';
import { type ThreadEntry, threadEntry } from './thread-entry.ts';
import { lostOf, ThreadLostError } from './thread-errors.ts';

/** Small, because each commit of another connection invalidates it. */
const READ_CACHE_BYTES = 2 * 1024 * 1024;
const MAX_HEAP_MB = 256;

export interface ThreadTableOptions {
  /** Clock that decides what has expired. */
  readonly clock?: Clock;
  /** File of the thread. Default: the one next to this module. */
  readonly entry?: ThreadEntry | undefined;
  /** Called when the thread ended unexpectedly, before its restart. */
  readonly onLost?: ((error: Error) => void) | undefined;
  /**
   * Start the thread only when `startThread` is called, and commit in this thread until then. Default: start
   * it immediately.
   */
  readonly startsLater?: boolean;
}

interface ThreadTable extends SqliteTable {
  /**
   * Starts the thread, which commits from now on. Call it when there is more to commit than in an idle store.
   */
  startThread(): void;
  /** Connects another thread to the table thread (table-port.ts). Rejects if that thread is restarting. */
  connect(): Promise<MessagePort>;
}

/** Opens `file` like openSqliteTable. */
export async function openThreadTable(file: string, options: ThreadTableOptions = {}): Promise<ThreadTable> {
  const { clock = SYSTEM_CLOCK, entry = threadEntry('table-thread'), startsLater = false, onLost } = options;
  const data: TableThreadData = { file };
  let thread: ThreadClient<TableCall, TableThreadResult> | undefined;
  const startThread = () => {
    thread ??= new ThreadClient<TableCall, TableThreadResult>({
      name: 'table',
      entry,
      data: () => data,
      maxHeapMb: MAX_HEAP_MB,
      onLost,
    });
    return thread;
  };
  let closing: Promise<void> | undefined;
  const call = async (
    work: DistributedOmit<TableCall, 'nowMs'>,
    moved?: Movable[],
  ): Promise<TableThreadResult> => {
    if (closing !== undefined) throw new Error('the catalog is closed, because the store is stopping');
    const thread = startThread();
    if (thread.running >= MAX_PENDING_COMMITS) {
      throw new ThrottledError(`catalog write queue is full (${MAX_PENDING_COMMITS} writes pending); retry`);
    }
    try {
      return await thread.call({ ...work, nowMs: clock.nowMs() }, { moved });
    } catch (error) {
      // As after any table error, it is unknown whether the last writes are stored. The client repeats the
      // request.
      throw error instanceof ThreadLostError ? lostOf(error) : error;
    }
  };
  try {
    // The thread creates a missing file.
    if (!startsLater) await startThread().ready();
    const reads = await openSqliteTable(file, { clock, cacheBytes: READ_CACHE_BYTES });
    return {
      ...forwardedTable(reads, async writes => {
        if (thread === undefined && closing === undefined) await reads.transact(writes);
        else await call({ kind: 'write', writes }, movedBodies(writes));
      }),
      startThread() {
        if (closing === undefined) startThread();
      },
      async connect() {
        const { port1, port2 } = new MessageChannel();
        await call({ kind: 'connect', port: port2 }, [port2]);
        return port1;
      },
      sweep: async limit => (await call({ kind: 'sweep', limit })) as number,
      check: full => reads.check(full),
      fold: async () => (await call({ kind: 'fold' })) as boolean,
      close() {
        closing ??= Promise.resolve(thread?.stop()).then(() => reads.close());
        return closing;
      },
    };
  } catch (error) {
    await thread?.stop();
    throw error;
  }
}

type DistributedOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;
