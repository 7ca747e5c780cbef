/**
 * The SQLite table with its commits in a thread of their own: a sync takes 0.2 ms, or tens of them where other files are synced
 * too, and the thread that serves must not wait for it. It reads by itself: readers of SQLite wait for nobody, and see all that was
 * committed before, so also what a write has resolved for.
 *
 *     put, put, transact | end of turn → one message → one transaction, one sync → one message → all resolve
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../shared/ports/clock.ts';
import type { Write } from '../shared/ports/table.ts';
import { ThrottledError } from '../shared/ports/throttled.ts';
import { entryBeside } from './entry-beside.ts';
import { forwardedTable } from './forwarded-table.ts';
import { openSqliteTable, type SqliteTable } from './sqlite-table.ts';
import { systemClock } from './system-clock.ts';
import type { TableAnswer, TableCall, TableThreadData, ToTable } from './table-worker.ts';
import { errorOf } from './thrown-errors.ts';

/** Each commit empties it, because another connection made it. */
const READ_CACHE_BYTES = 8 * 1024 * 1024;
/** Calls without an answer. More means that writes come faster than the disk takes them. */
const MAX_CALLS = 20_000;
/** Bodies from this size on are moved to the thread; smaller ones are cheaper copied. */
const MOVED_BYTES = 16 * 1024;
const MAX_HEAP_MB = 256;
const MAX_YOUNG_MB = 4;

export interface ThreadTableOptions {
  /** Tells what has expired. */
  readonly clock?: Clock;
  /** The file of the thread; default: the one beside this. */
  readonly entry?: URL;
}

/** Opens `file`, as openSqliteTable does. The thread is started at once; one that ended is replaced with the next write. */
export async function openThreadTable(file: string, options: ThreadTableOptions = {}): Promise<SqliteTable> {
  const { clock = systemClock, entry = entryBeside('table-worker') } = options;
  const writer = new TableThread({ file }, entry, clock);
  try {
    // It makes what is missing.
    await writer.open();
    const reads = await openSqliteTable(file, { clock, cacheBytes: READ_CACHE_BYTES });
    return { ...forwardedTable(reads, writes => writer.write(writes)), ...others(reads, writer) };
  } catch (error) {
    await writer.close();
    throw error;
  }
}

function others(
  reads: SqliteTable,
  writer: TableThread,
): Omit<SqliteTable, keyof ReturnType<typeof forwardedTable>> {
  return {
    sweep: async limit => (await writer.call({ kind: 'sweep', limit })) as number,
    check: full => reads.check(full),
    fold: async () => (await writer.call({ kind: 'fold' })) as boolean,
    async close() {
      await writer.close();
      await reads.close();
    },
  };
}

class TableThread {
  private readonly data: TableThreadData;
  private readonly entry: URL;
  private readonly clock: Clock;
  private worker: Worker | undefined;
  private readonly calls = new Map<number, PromiseWithResolvers<TableAnswer['result']>>();
  /** Of this turn. */
  private unsent: TableCall[] = [];
  private nextId = 1;
  private closing: Promise<void> | undefined;

  constructor(data: TableThreadData, entry: URL, clock: Clock) {
    this.data = data;
    this.clock = clock;
    this.entry = entry;
  }

  /** Throws what the opening of the table throws. */
  async open(): Promise<void> {
    const opened = Promise.withResolvers<TableAnswer['result']>();
    this.calls.set(0, opened);
    this.worker = this.start();
    await opened.promise;
  }

  async write(writes: readonly Write[]): Promise<void> {
    await this.call({ kind: 'write', writes });
  }

  call(work: TableCall['work']): Promise<TableAnswer['result']> {
    if (this.closing !== undefined) return Promise.reject(new Error('the table is closed'));
    if (this.calls.size >= MAX_CALLS) {
      return Promise.reject(new ThrottledError(`${MAX_CALLS} writes already wait for the table`));
    }
    const id = this.nextId++;
    const answered = Promise.withResolvers<TableAnswer['result']>();
    this.calls.set(id, answered);
    this.unsent.push({ id, work });
    if (this.unsent.length === 1) setImmediate(() => this.send());
    return answered.promise;
  }

  /** Waits for the calls under way. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await Promise.allSettled(Array.from(this.calls.values(), ({ promise }) => promise));
    const { worker } = this;
    if (worker === undefined) return;
    this.worker = undefined;
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
    worker.ref();
    worker.postMessage('close' satisfies ToTable);
    await exited;
  }

  private send(): void {
    const calls = this.unsent.splice(0);
    this.worker ??= this.start();
    this.worker.ref();
    const message: ToTable = { nowMs: this.clock.nowMs(), calls };
    this.worker.postMessage(message, calls.flatMap(movedOf));
  }

  private start(): Worker {
    const worker = new Worker(this.entry, {
      workerData: this.data,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // Those of the program are for its main thread: flags of V8 hold for the process, and others are refused.
      execArgv: [],
    });
    let cause: unknown;
    worker.on('message', (answers: readonly TableAnswer[]) => this.receive(answers));
    worker.on('error', error => {
      cause = error;
    });
    worker.on('exit', code =>
      this.lost(worker, new Error(`the thread of the table ended with code ${code}`, { cause })),
    );
    return worker;
  }

  private receive(answers: readonly TableAnswer[]): void {
    for (const { id, result, error } of answers) {
      const call = this.calls.get(id);
      this.calls.delete(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(errorOf(error));
    }
    // A program that waits for nothing else may end.
    if (this.calls.size === 0) this.worker?.unref();
  }

  /** Whether its last writes are there is open, as after any error of a table. */
  private lost(worker: Worker, cause: Error): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    const unsent = new Set(this.unsent.map(({ id }) => id));
    for (const [id, call] of this.calls) {
      if (unsent.has(id)) continue;
      this.calls.delete(id);
      call.reject(new Error(`table write failed: ${cause.message}`, { cause }));
    }
  }
}

/** Bodies lie in memory of their own (forwarded-table.ts). */
function movedOf({ work }: TableCall): ArrayBuffer[] {
  if (work.kind !== 'write') return [];
  const moved: ArrayBuffer[] = [];
  for (const write of work.writes) {
    if (write.kind === 'put' && write.item.body.byteLength >= MOVED_BYTES) {
      moved.push(write.item.body.buffer as ArrayBuffer);
    }
  }
  return moved;
}
