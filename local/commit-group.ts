/**
 * Group commit: the writes that arrive in one turn of the event loop share one transaction, hence one sync.
 *
 *   turn n     put a   put b   transact c           each is queued
 *   its end    BEGIN   a   b   c (condition fails)   COMMIT = one sync
 *              a and b resolve, c rejects; nothing of c was written
 *
 * Each call is atomic by itself, because it evaluates all its conditions before its first write and throws
 * only then. What it sees includes the calls before it in the group; so its answer, a failed condition too, waits for
 * the commit. An error of the database (a full disk) undoes the whole group and rejects all of its calls.
 */
import { messageOf } from '../shared/base/model/errors.ts';
import { StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import { ConditionFailedError } from '../shared/base/ports/table.ts';
import { ThrottledError } from '../shared/base/ports/throttled.ts';
import { asStorageError } from './disk-errors.ts';
import { retryWhileBusy } from './sqlite-busy.ts';

/** A group holds up the event loop: 500 small writes take about 4 ms. The rest goes into the next one. */
const MAX_GROUP_CALLS = 500;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/** Calls that wait. More means that writes come faster than the disk takes them. */
const MAX_QUEUED_CALLS = 20_000;

/** The transaction of the database, synchronous. */
export interface Transaction {
  begin(): void;
  commit(): void;
  /** Safe where none is open. */
  rollback(): void;
}

export interface CommitGroup {
  /** Runs `work` inside a transaction. `bytes` is the size of what it writes. */
  write<T>(bytes: number, work: () => T): Promise<T>;
  /** Resolves when all that was queued has been answered; later writes are refused. */
  close(): Promise<void>;
}

interface Call {
  readonly bytes: number;
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly result: unknown } | { readonly failed: ConditionFailedError };

export function commitGroup(transaction: Transaction): CommitGroup {
  let queue: Call[] = [];
  let draining: Promise<void> | undefined;
  let isClosed = false;

  const drain = async (): Promise<void> => {
    await endOfTurn();
    while (queue.length > 0) {
      const size = groupSize(queue);
      const group = queue.slice(0, size);
      queue = queue.slice(size);
      await commit(transaction, group);
      if (queue.length > 0) await endOfTurn();
    }
    draining = undefined;
  };

  return {
    write<T>(bytes: number, work: () => T): Promise<T> {
      if (isClosed) return Promise.reject(new Error('the table is closed'));
      if (queue.length >= MAX_QUEUED_CALLS) {
        return Promise.reject(
          new ThrottledError(`${MAX_QUEUED_CALLS} writes already wait for the catalog; retry`),
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

async function commit(transaction: Transaction, group: readonly Call[]): Promise<void> {
  let outcomes: Outcome[];
  try {
    outcomes = await retryWhileBusy(() => runGroup(transaction, group));
  } catch (error) {
    const unavailable = asStorageError(error);
    const reason =
      unavailable instanceof StorageUnavailableError || error instanceof ThrottledError
        ? unavailable
        : new Error(`table write failed: ${messageOf(error)}`, { cause: error });
    for (const call of group) call.reject(reason);
    return;
  }
  group.forEach((call, i) => {
    const outcome = outcomes[i];
    if ('failed' in outcome) call.reject(outcome.failed);
    else call.resolve(outcome.result);
  });
}

function runGroup(transaction: Transaction, group: readonly Call[]): Outcome[] {
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

function runCall({ work }: Call): Outcome {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof ConditionFailedError) return { failed: error };
    throw error;
  }
}

/** How many of the first calls form a group: at least one. */
function groupSize(queue: readonly Call[]): number {
  let bytes = 0;
  const most = Math.min(queue.length, MAX_GROUP_CALLS);
  for (let i = 0; i < most; i++) {
    bytes += queue[i].bytes;
    if (bytes > MAX_GROUP_BYTES) return Math.max(1, i);
  }
  return most;
}

function endOfTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
