/**
 * Calls to a thread of its own, several at once. It is started with the first call, runs at a lower priority, and is replaced where
 * it ended; what it was at is tried once more then, one call after the other, so that one which takes too much memory takes no
 * other with it again.
 */
import { Worker } from 'node:worker_threads';
import { BadRequestError } from '../shared/model/errors.ts';
import { InvokerError } from '../shared/ports/invoker.ts';
import { type TaskFailure, taskError } from '../shared/query/tasks/task-failure.ts';
import { ThreadLostError } from './worker-thread.ts';

export type ToThread<Call> =
  | { readonly kind: 'call'; readonly id: number; readonly call: Call }
  /** The answer is not wanted any more. */
  | { readonly kind: 'cancel'; readonly id: number };

export type FromThread<Answer> =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: TaskFailure };

export interface ThreadOptions {
  /** The file of the thread. */
  readonly entry: URL;
  /** What it is started with. */
  readonly data: unknown;
  /** Of its heap. */
  readonly maxHeapMb: number;
}

/** Pages and states lie outside the heap; what is young there is short-lived. */
const MAX_YOUNG_MB = 8;
const OUT_OF_MEMORY = 'the query needs more memory than there is; reduce the time range or the limit';

interface Waiting<Answer> {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export class ThreadCalls<Call, Answer> {
  private readonly options: ThreadOptions;
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting<Answer>>();
  private nextId = 1;
  /** The calls that are tried once more, in turns. */
  private again: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  /** Threads that were started. */
  starts = 0;
  calls = 0;

  constructor(options: ThreadOptions) {
    this.options = options;
  }

  /** Under way. */
  get running(): number {
    return this.waiting.size;
  }

  /**
   * Rejects with what the thread failed with, with the reason of the signal as soon as it aborts, BadRequestError where the
   * thread had too little memory twice, ThreadLostError where it ended otherwise.
   */
  async call(call: Call, signal: AbortSignal): Promise<Answer> {
    this.calls++;
    try {
      return await this.attempt(call, signal);
    } catch (error) {
      if (!isLost(error) || this.isClosed) throw error;
    }
    const tried = this.again.then(() => this.attempt(call, signal));
    this.again = tried.catch(() => undefined);
    return tried;
  }

  /** Ends the thread; what it is at rejects. No thread is started any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
    this.rejectAll(new ThreadLostError('the thread was stopped'));
  }

  private attempt(call: Call, signal: AbortSignal): Promise<Answer> {
    if (this.isClosed) throw new InvokerError('the thread is stopped');
    signal.throwIfAborted();
    this.worker ??= this.start();
    const { worker } = this;
    const id = this.nextId++;
    const answered = Promise.withResolvers<Answer>();
    const abort = (): void => {
      worker.postMessage({ kind: 'cancel', id } satisfies ToThread<Call>);
      answered.reject(signal.reason);
    };
    this.waiting.set(id, answered);
    worker.ref();
    worker.postMessage({ kind: 'call', id, call } satisfies ToThread<Call>);
    signal.addEventListener('abort', abort, { once: true });
    return answered.promise.finally(() => {
      signal.removeEventListener('abort', abort);
      this.waiting.delete(id);
      // A program that waits for nothing else may end.
      if (this.waiting.size === 0) worker.unref();
    });
  }

  private start(): Worker {
    const { entry, data: workerData, maxHeapMb: maxOldGenerationSizeMb } = this.options;
    const worker = new Worker(entry, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // Those of the program are for its main thread: flags of V8 hold for the process, and others are refused.
      execArgv: [],
    });
    this.starts++;
    let cause: unknown;
    worker.on('message', (message: FromThread<Answer>) => this.receive(message));
    worker.on('error', error => {
      cause = error;
    });
    worker.on('exit', code => {
      if (this.worker !== worker) return;
      this.worker = undefined;
      const isMemory = (cause as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.rejectAll(
        isMemory
          ? new OutOfMemoryError(OUT_OF_MEMORY, { cause })
          : new ThreadLostError(`a thread ended with code ${code}`, { cause }),
      );
    });
    return worker;
  }

  private receive(message: FromThread<Answer>): void {
    const waiting = this.waiting.get(message.id);
    if (message.kind === 'answer') waiting?.resolve(message.answer);
    else waiting?.reject(taskError(message.failure));
  }

  private rejectAll(error: Error): void {
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}

/** Of the thread, whoever's call it was. */
class OutOfMemoryError extends BadRequestError {}

function isLost(error: unknown): boolean {
  return error instanceof ThreadLostError || error instanceof OutOfMemoryError;
}
