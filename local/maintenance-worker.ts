/**
 * The thread that packs and rewrites days, beside the one that serves and at a lower priority. It has stores and a catalog of its
 * own, as another process would; the main thread sends what it is to do. Runs from the source tree and from the package.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Catalog } from '../shared/catalog/catalog.ts';
import { packInThisThread } from '../shared/chunk/compression.ts';
import { Compactor } from '../shared/compaction/compactor.ts';
import { noRewrites } from '../shared/compaction/day-rewriter.ts';
import { dayDeletion } from '../shared/deletion/delete-of-day.ts';
import { MergeDrops, type RemovalLimits } from '../shared/deletion/merge-drops.ts';
import type { Write } from '../shared/ports/table.ts';
import { dayExpiry } from '../shared/retention/expire-day.ts';
import { forwardedTable } from './forwarded-table.ts';
import type {
  DayResult,
  DayTask,
  FromThread,
  MaintenanceThreadData,
  ToThread,
} from './maintenance-messages.ts';
import { openStorage, SMALL_TABLE_CACHE_BYTES, type Storage } from './storage.ts';
import { systemClock, systemIds } from './system-clock.ts';
import { lowerThreadPriority } from './thread-priority.ts';
import { errorOf, type ThrownError, thrownOf } from './thrown-errors.ts';

interface Opened {
  readonly storage: Storage;
  readonly catalog: Catalog;
}

if (parentPort === null) throw new Error('maintenance-worker.ts is run as a worker thread');
const port = parentPort;
const data = workerData as MaintenanceThreadData;
lowerThreadPriority();
packInThisThread();
let opening: Promise<Opened> | undefined;
/** Of the tasks under way, by number. */
const cancels = new Map<number, AbortController>();
const running = new Set<Promise<void>>();
/** Writes that the main thread has not answered, by number. */
const written = new Map<number, PromiseWithResolvers<void>>();
let nextWrite = 1;

port.on('message', (message: ToThread) => {
  if (message.kind === 'close') void close();
  else if (message.kind === 'cancel') cancels.get(message.id)?.abort();
  else if (message.kind === 'written') endWrite(message.id, message.error);
  else {
    const { id, task, limits } = message;
    const run = runTask(id, task, limits).finally(() => running.delete(run));
    running.add(run);
  }
});

async function runTask(id: number, task: DayTask, limits: RemovalLimits): Promise<void> {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  const figures = { ...noRewrites(), readBytes: 0 };
  try {
    const result = await resultOf(task, limits, figures, cancel.signal);
    send({ kind: 'ended', id, result, figures });
  } catch (error) {
    const { signal } = cancel;
    const isCancelled = signal.aborted && error === signal.reason;
    const result: DayResult = isCancelled
      ? { kind: 'cancelled' }
      : { kind: 'failed', error: thrownOf(error) };
    send({ kind: 'ended', id, result, figures });
  } finally {
    cancels.delete(id);
  }
}

async function resultOf(
  task: DayTask,
  limits: RemovalLimits,
  figures: ReturnType<typeof noRewrites> & { readBytes: number },
  signal: AbortSignal,
): Promise<DayResult> {
  const { storage, catalog } = await open();
  const { store } = storage;
  const [clock, ids, options] = [systemClock, systemIds, data.compaction];
  const drops = new MergeDrops({
    deletes: catalog.deletes,
    clock,
    limitsOf: () => limits,
    isEnabled: data.removes,
  });
  const rewriter = { catalog, store, clock, ids, options, drops };
  switch (task.kind) {
    case 'compact':
      return {
        kind: 'compacted',
        report: await new Compactor(rewriter).compactDay({ ...task.work, signal }),
      };
    case 'delete': {
      const end = await dayDeletion({ rewriter, store }).deleteOfDay({ ...task.work, signal }, figures);
      return { kind: 'rewritten', end };
    }
    case 'expire':
      return {
        kind: 'rewritten',
        end: await dayExpiry(rewriter).expireDay({ ...task.work, signal }, figures),
      };
  }
}

/** Where that fails, the next task tries again. */
function open(): Promise<Opened> {
  opening ??= openStorage(data.storage, { tableCacheBytes: SMALL_TABLE_CACHE_BYTES }).then(
    storage => {
      const table = data.forwardsWrites ? forwardedTable(storage.table, forward) : storage.table;
      return { storage, catalog: new Catalog({ table, clock: systemClock, ids: systemIds }) };
    },
    (error: unknown) => {
      opening = undefined;
      throw error;
    },
  );
  return opening;
}

function forward(writes: readonly Write[]): Promise<void> {
  const id = nextWrite++;
  const answered = Promise.withResolvers<void>();
  written.set(id, answered);
  send({ kind: 'write', id, writes });
  return answered.promise;
}

function endWrite(id: number, error: ThrownError | undefined): void {
  const write = written.get(id);
  written.delete(id);
  if (error === undefined) write?.resolve();
  else write?.reject(errorOf(error));
}

async function close(): Promise<void> {
  for (const cancel of cancels.values()) cancel.abort();
  await Promise.all(running);
  const opened = await opening?.catch(() => undefined);
  // What is committed is safe in any case.
  await opened?.storage.close().catch(() => undefined);
  process.exit(0);
}

function send(message: FromThread): void {
  port.postMessage(message);
}
