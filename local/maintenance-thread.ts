/**
 * Days packed and rewritten in a thread beside the one that serves: of lower priority, started when it is first needed, and kept.
 *
 * To the store it is as another process: its swaps are fenced by its leases, so what it leaves when it dies is what a killed
 * process leaves. A day that it was at is free again when its lease ends. A reader would get wrong a cancelled call: it waits for
 * the thread, which gives the lease back first.
 */
import { Worker } from 'node:worker_threads';
import type { CompactionReport, DayCompactor, DayWork } from '../shared/compaction/compactor.ts';
import type { RewriteEnd } from '../shared/compaction/day-rewriter.ts';
import type { DayDeletion, DayDeletionFigures, DayToClean } from '../shared/deletion/delete-of-day.ts';
import type { RemovalLimits } from '../shared/deletion/merge-drops.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { Table, Write } from '../shared/ports/table.ts';
import { ThrottledError } from '../shared/ports/throttled.ts';
import type { DayExpiry, DayToExpire } from '../shared/retention/expire-day.ts';
import { entryBeside } from './entry-beside.ts';
import type {
  DayEnded,
  DayResult,
  DayTask,
  FromThread,
  MaintenanceThreadData,
  ToThread,
} from './maintenance-messages.ts';
import { systemClock } from './system-clock.ts';
import { errorOf, thrownOf } from './thrown-errors.ts';

/**
 * Days at once. Jobs do one after the other; requests to flush a tenant come beside them. Each may hold what merge-bounds.ts
 * says.
 */
const MAX_AT_ONCE = 4;
/** Each is a request, or a job. */
const MAX_WAITING = 1000;
/** Footers, texts and digests of one merge in the worst case; pages lie outside the heap. */
const MAX_HEAP_MB = 2048;
const MAX_YOUNG_MB = 12;
/** A merge looks up every few milliseconds of work. */
const CANCEL_WAIT_MS = 5000;
/** Beyond it the thread is ended where it stands. */
const CLOSE_WAIT_MS = 5000;

export interface MaintenanceThreadOptions extends Omit<MaintenanceThreadData, 'forwardsWrites'> {
  /** Makes the thread's writes, see forwarded-table.ts. Without it the thread writes by itself. */
  readonly table?: Table | undefined;
  limitsOf(tenant: string): RemovalLimits;
  readonly clock?: Clock;
  /** The file of the thread; default: the one beside this. */
  readonly entry?: URL;
  readonly maxHeapMb?: number;
}

/** The thread ended while it was at a day, or was ended. */
export class MaintenanceThreadLostError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MaintenanceThreadLostError';
  }
}

interface Call {
  resolve(answer: DayEnded): void;
  reject(error: unknown): void;
}

interface Waiting {
  enter(): void;
  reject(error: unknown): void;
}

export class MaintenanceThread implements DayCompactor, DayDeletion, DayExpiry {
  private readonly options: MaintenanceThreadOptions;
  private readonly clock: Clock;
  private worker: Worker | undefined;
  /** What the thread has not answered. */
  private readonly calls = new Map<number, Call>();
  private readonly waiting: Waiting[] = [];
  private entered = 0;
  private nextId = 1;
  private isClosed = false;
  /** Threads that were started, those that replace others included. */
  starts = 0;

  constructor(options: MaintenanceThreadOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
  }

  async compactDay({ signal, ...work }: DayWork): Promise<CompactionReport> {
    const { result } = await this.run({ kind: 'compact', work }, signal);
    if (result.kind !== 'compacted') throw failureOf(result, signal);
    return result.report;
  }

  deleteOfDay({ signal, ...work }: DayToClean, figures: DayDeletionFigures): Promise<RewriteEnd> {
    return this.rewrite({ kind: 'delete', work }, signal, figures);
  }

  expireDay(
    { signal, ...work }: DayToExpire,
    figures: Parameters<DayExpiry['expireDay']>[1],
  ): Promise<RewriteEnd> {
    return this.rewrite({ kind: 'expire', work }, signal, figures);
  }

  /** Cancels what is under way, lets the thread close its stores, and ends it where that takes long. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { reject } of this.waiting.splice(0)) reject(stopped());
    const { worker } = this;
    if (worker === undefined) return;
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
    worker.ref();
    post(worker, { kind: 'close' });
    if (!(await this.within(exited, CLOSE_WAIT_MS))) await worker.terminate();
  }

  private async rewrite<Figures extends object>(
    task: DayTask,
    signal: AbortSignal,
    figures: Figures,
  ): Promise<RewriteEnd> {
    const { result, figures: done } = await this.run(task, signal);
    addTo(figures, done ?? {});
    if (result.kind !== 'rewritten') throw failureOf(result, signal);
    return result.end;
  }

  /** Rejects with MaintenanceThreadLostError, ThrottledError, and the reason of the signal. */
  private async run(task: DayTask, signal: AbortSignal): Promise<DayEnded> {
    if (this.isClosed) throw stopped();
    signal.throwIfAborted();
    await this.enter(signal);
    const answered = Promise.withResolvers<DayEnded>();
    const id = this.nextId++;
    this.calls.set(id, answered);
    let worker: Worker;
    try {
      signal.throwIfAborted();
      if (this.isClosed) throw stopped();
      worker = this.worker ?? this.start();
      const limits = removalLimits(this.options.limitsOf(task.work.tenant));
      worker.ref();
      post(worker, { kind: 'run', id, task, limits });
    } catch (error) {
      this.leave(id);
      throw error;
    }
    const abort = () => {
      post(worker, { kind: 'cancel', id });
      void this.within(answered.promise, CANCEL_WAIT_MS).then(isOver => {
        // The thread may go on for a while: it publishes nothing but under its lease.
        if (!isOver) answered.reject(signal.reason);
      });
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await answered.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Resolves when one more day may be worked on. */
  private async enter(signal: AbortSignal): Promise<void> {
    if (this.entered < MAX_AT_ONCE) {
      this.entered++;
      return;
    }
    if (this.waiting.length >= MAX_WAITING) throw new ThrottledError(`${MAX_WAITING} days wait to be packed`);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
        reject: error => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      this.waiting.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** A call is over for the thread: its place passes on. */
  private leave(id: number): Call | undefined {
    const call = this.calls.get(id);
    if (call === undefined) return undefined;
    this.calls.delete(id);
    const next = this.waiting.shift();
    if (next === undefined) this.entered--;
    else next.enter();
    // A program that waits for nothing else may end.
    if (this.calls.size === 0) this.worker?.unref();
    return call;
  }

  private start(): Worker {
    const {
      storage,
      compaction,
      removes,
      table,
      entry = entryBeside('maintenance-worker'),
      maxHeapMb = MAX_HEAP_MB,
    } = this.options;
    const forwardsWrites = table !== undefined;
    const workerData: MaintenanceThreadData = { storage, compaction, removes, forwardsWrites };
    const worker = new Worker(entry, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // Those of the program are for its main thread: flags of V8 hold for the process, and others are refused.
      execArgv: [],
    });
    this.starts++;
    this.worker = worker;
    let cause: unknown;
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'ended') this.leave(message.id)?.resolve(message);
      else void this.write(worker, message.id, message.writes);
    });
    worker.on('error', error => {
      cause = error;
    });
    worker.on('exit', code => this.lost(code, cause));
    return worker;
  }

  /** What dies meanwhile is written all the same, as what a killed process has sent. */
  private async write(worker: Worker, id: number, writes: readonly Write[]): Promise<void> {
    const error = await this.options.table!.transact(writes).then(
      () => undefined,
      (reason: unknown) => thrownOf(reason),
    );
    post(worker, { kind: 'written', id, error });
  }

  private lost(code: number, cause: unknown): void {
    this.worker = undefined;
    const isMemory = (cause as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const error = isMemory
      ? new MaintenanceThreadLostError('the maintenance thread ran out of memory', { cause })
      : this.isClosed
        ? stopped()
        : new MaintenanceThreadLostError(`the maintenance thread ended with code ${code}`, { cause });
    for (const id of [...this.calls.keys()]) this.leave(id)?.reject(error);
  }

  /** False where the promise has not settled by then. */
  private async within(promise: Promise<unknown>, ms: number): Promise<boolean> {
    const settled = new AbortController();
    const over = promise.then(
      () => true,
      () => true,
    );
    void over.then(() => settled.abort());
    const late = this.clock.sleep(ms, settled.signal).then(
      () => false,
      () => true,
    );
    return Promise.race([over, late]);
  }
}

function failureOf(result: DayResult, signal: AbortSignal): unknown {
  if (result.kind === 'failed') return errorOf(result.error);
  // The thread cancels by itself only when it is closed.
  return signal.aborted ? signal.reason : stopped();
}

function stopped(): MaintenanceThreadLostError {
  return new MaintenanceThreadLostError('the maintenance thread is stopped');
}

function addTo(figures: object, more: object): void {
  for (const [name, value] of Object.entries(more)) {
    const before: unknown = Reflect.get(figures, name);
    if (typeof before === 'number') Reflect.set(figures, name, before + value);
  }
}

/** Nothing else of the limits is sent. */
function removalLimits({ deletionMode, retentionPeriodNs, retentionStream }: RemovalLimits): RemovalLimits {
  return { deletionMode, retentionPeriodNs, retentionStream };
}

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}
