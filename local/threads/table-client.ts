/**
 * The SQLite table with its commits in a thread of their own: a sync takes 0.2 ms, or tens of them if other files are synced too, and
 * no thread that serves requests should wait for it. Reads are this thread's: readers of SQLite wait for nobody, and see all that was
 * committed before, so also what a write has resolved for.
 *
 *     put, put, transact | messages → one transaction, one sync (commit-group.ts) → all resolve
 */
import type { Clock } from '../../shared/base/ports/clock.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { systemClock } from '../../shared/base/runtime/system-clock.ts';
import { openSqliteTable, type SqliteTable } from '../sqlite-table.ts';
import { forwardedTable, movedBodies } from './forwarded-table.ts';
import type { TableAnswer, TableCall, TableThreadData } from './table-thread.ts';
import { ThreadClient } from './thread-client.ts';
import { type ThreadEntry, threadEntry } from './thread-entry.ts';
import { lostOf, ThreadLostError } from './thread-errors.ts';

/** Each commit empties it, because another connection made it. */
const READ_CACHE_BYTES = 2 * 1024 * 1024;
/** Calls without an answer. More means that writes come faster than the disk takes them. */
const MAX_CALLS = 20_000;
const MAX_HEAP_MB = 256;

export interface ThreadTableOptions {
  /** Decides what has expired. */
  readonly clock?: Clock;
  /** The file of the thread; default: the one beside this. */
  readonly entry?: ThreadEntry | undefined;
  /** Called when the thread ended by itself, before it is started again. */
  readonly onLost?: ((error: Error) => void) | undefined;
  /** Start the thread when `startThread` is called; until then this thread commits. Default: start it at once. */
  readonly startsLater?: boolean;
}

export interface ThreadTable extends SqliteTable {
  /** For when there is more to commit than an idle store has: from now on the thread does it. */
  startThread(): void;
}

/** Opens `file`, as openSqliteTable does. */
export async function openThreadTable(file: string, options: ThreadTableOptions = {}): Promise<ThreadTable> {
  const { clock = systemClock, entry = threadEntry('table-thread'), startsLater = false, onLost } = options;
  const data: TableThreadData = { file };
  let thread: ThreadClient<TableCall, TableAnswer> | undefined;
  const startThread = () => {
    thread ??= new ThreadClient<TableCall, TableAnswer>({
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
    moved?: ArrayBuffer[],
  ): Promise<TableAnswer> => {
    if (closing !== undefined) throw new Error('the table is closed');
    const thread = startThread();
    if (thread.running >= MAX_CALLS) {
      throw new ThrottledError(`${MAX_CALLS} writes already wait for the catalog; retry`);
    }
    try {
      return await thread.call({ ...work, nowMs: clock.nowMs() }, { moved });
    } catch (error) {
      // Whether the last writes are stored is unknown, as after any error of a table: the client sends the request again.
      throw error instanceof ThreadLostError ? lostOf(error) : error;
    }
  };
  try {
    // The thread makes what is missing.
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
