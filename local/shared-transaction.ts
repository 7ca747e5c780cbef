/**
 * Shared transactions: writes that arrive in one iteration of the event loop share one transaction, hence one fsync.
 *
 *   iteration n   put a   put b   transact c           each is queued
 *   its end       BEGIN   a   b   c (condition fails)   COMMIT = one fsync
 *                 a and b resolve, c rejects; nothing of c was written
 *
 * Each call is atomic by itself, because it evaluates all its conditions before its first write and throws
 * only then. A call sees the earlier calls of its group. Therefore its result, even a failed condition, waits
 * for the commit. An error of the database (a full disk) rolls back the whole group and rejects all of its
 * calls.
 */
import { messageOf } from '../shared/base/model/errors.ts';
import { StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import { ConditionFailedError } from '../shared/base/ports/table.ts';
import { ThrottledError } from '../shared/base/ports/throttled.ts';
import { asStorageError } from './disk-errors.ts';
import { retryWhileBusy } from './sqlite-busy.ts';

/**
 * Bounds the time that a group blocks the event loop: 500 small writes take about 4 ms. Further calls form
 * the next group.
 */
const MAX_GROUP_CALLS = 500;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/** Limit of queued calls. More means that writes arrive faster than the disk can store them. */
const MAX_QUEUED_CALLS = 20_000;

/** Synchronous transaction of the database. */
interface Transaction {
  begin(): void;
  commit(): void;
  /** Does nothing if no transaction is open. */
  rollback(): void;
}

interface SharedTransaction {
  /** Runs `work` inside a transaction. `bytes` is the size of what it writes. */
  write<T>(bytes: number, work: () => T): Promise<T>;
  /** Resolves when all queued calls have settled. Later writes are refused. */
  close(): Promise<void>;
}

interface QueuedTransaction {
  readonly bytes: number;
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type TransactionOutcome = { readonly result: unknown } | { readonly failed: ConditionFailedError };

export function sharedTransaction(transaction: Transaction): SharedTransaction {
  let queue: QueuedTransaction[] = [];
  let draining: Promise<void> | undefined;
  let isClosed = false;

  const drain = async (): Promise<void> => {
    await endOfIteration();
    while (queue.length > 0) {
      const size = groupSize(queue);
      const group = queue.slice(0, size);
      queue = queue.slice(size);
      await commit(transaction, group);
      if (queue.length > 0) await endOfIteration();
    }
    draining = undefined;
  };

  return {
    write<T>(bytes: number, work: () => T): Promise<T> {
      if (isClosed) return Promise.reject(new Error('the catalog is closed, because the store is stopping'));
      if (queue.length >= MAX_QUEUED_CALLS) {
        return Promise.reject(
          new ThrottledError(`catalog write queue is full (${MAX_QUEUED_CALLS} writes pending); retry`),
        );
      }
      return new Promise<T>((resolve, reject) => {
        queue.push({ bytes, work, resolve: resolve as (result: unknown) => void, reject });
        draining ??= drain();
      });
    },

    async close() {
      isClosed = true;
      await draining;
    },
  };
}

async function commit(transaction: Transaction, group: readonly QueuedTransaction[]): Promise<void> {
  let outcomes: TransactionOutcome[];
  try {
    outcomes = await retryWhileBusy(() => runGroup(transaction, group));
  } catch (error) {
    const unavailable = asStorageError(error);
    const reason =
      unavailable instanceof StorageUnavailableError || error instanceof ThrottledError
        ? unavailable
        : new Error(`write to the catalog failed: ${messageOf(error)}`, { cause: error });
    for (const call of group) call.reject(reason);
    return;
  }
  group.forEach((call, i) => {
    const outcome = outcomes[i];
    if ('failed' in outcome) call.reject(outcome.failed);
    else call.resolve(outcome.result);
  });
}

function runGroup(transaction: Transaction, group: readonly QueuedTransaction[]): TransactionOutcome[] {
  transaction.begin();
  try {
    const outcomes = group.map(runCall);
    transaction.commit();
    return outcomes;
  } catch (error) {
    transaction.rollback();
    throw error;
  }
}

function runCall({ work }: QueuedTransaction): TransactionOutcome {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof ConditionFailedError) return { failed: error };
    throw error;
  }
}

/** Number of queued calls that form the next group: at least one. */
function groupSize(queue: readonly QueuedTransaction[]): number {
  let bytes = 0;
  const most = Math.min(queue.length, MAX_GROUP_CALLS);
  for (let i = 0; i < most; i++) {
    bytes += queue[i].bytes;
    if (bytes > MAX_GROUP_BYTES) return Math.max(1, i);
  }
  return most;
}

function endOfIteration(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
