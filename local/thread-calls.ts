/**
 * Calls to a thread of its own, several at once. It is started with the first call, runs at a lower priority, and is replaced where
 * it ended; what it was at is tried once more then, one call after the other, so that one which takes too much memory takes no
 * other with it again. The thread may ask and tell this one meanwhile.
 */
import { Worker } from 'node:worker_threads';
import { BadRequestError } from '../shared/model/errors.ts';
import { type TaskFailure, taskError } from '../shared/query/tasks/task-failure.ts';
import { type ThrownError, thrownOf } from './thrown-errors.ts';
import { ThreadLostError } from './worker-thread.ts';

export type ToThread<Call> =
  | { readonly kind: 'call'; readonly id: number; readonly call: Call }
  /** The answer is not wanted any more. */
  | { readonly kind: 'cancel'; readonly id: number }
  /** To what the thread asked. */
  | { readonly kind: 'reply'; readonly id: number; readonly reply: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly error: ThrownError };

export type FromThread<Answer> =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: TaskFailure }
  /** Numbers of what is asked are the thread's own. */
  | { readonly kind: 'ask'; readonly id: number; readonly ask: unknown }
  | { readonly kind: 'tell'; readonly tell: unknown };

/** What the thread may ask and tell. */
export interface ThreadHub {
  reply(ask: unknown): Promise<unknown>;
  /** Must not throw. */
  hear(tell: unknown): void;
}

export interface ThreadOptions {
  /** The file of the thread. */
  readonly entry: URL;
  /** What it is started with. */
  readonly data: unknown;
  /** Of its heap. */
  readonly maxHeapMb: number;
  /** Default: it asks and tells nothing. */
  readonly hub?: ThreadHub;
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
    try {
      return await this.callOnce(call, signal);
    } catch (error) {
      if (!isLost(error) || this.isClosed) throw error;
    }
    const tried = this.again.then(() => this.attempt(call, signal));
    this.again = tried.catch(() => undefined);
    return tried;
  }

  /** The same without trying again. */
  callOnce(call: Call, signal: AbortSignal): Promise<Answer> {
    this.calls++;
    return this.attempt(call, signal);
  }

  /** Ends the thread; what it is at rejects. No thread is started any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
    this.rejectAll(new ThreadLostError('the thread was stopped'));
  }

  private async attempt(call: Call, signal: AbortSignal): Promise<Answer> {
    if (this.isClosed) throw new ThreadLostError('the thread is stopped');
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
    worker.on('message', (message: FromThread<Answer>) => this.receive(worker, message));
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

  private receive(worker: Worker, message: FromThread<Answer>): void {
    switch (message.kind) {
      case 'answer':
        this.waiting.get(message.id)?.resolve(message.answer);
        return;
      case 'failed':
        this.waiting.get(message.id)?.reject(taskError(message.failure));
        return;
      case 'ask':
        void this.reply(worker, message.id, message.ask);
        return;
      case 'tell':
        this.options.hub?.hear(message.tell);
    }
  }

  /** Where the thread has ended meanwhile, what it asked is done all the same, and nobody hears of it. */
  private async reply(worker: Worker, id: number, ask: unknown): Promise<void> {
    const message: ToThread<Call> = await (this.options.hub?.reply(ask) ?? Promise.resolve()).then(
      reply => ({ kind: 'reply', id, reply }) as const,
      (error: unknown) => ({ kind: 'refused', id, error: thrownOf(error) }) as const,
    );
    worker.postMessage(message);
  }

  private rejectAll(error: Error): void {
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}

/** Of the thread, whoever's call it was. */
class OutOfMemoryError extends BadRequestError {}

/** The thread ended, or had too little memory, while it was at the call. */
export function isLost(error: unknown): boolean {
  return error instanceof ThreadLostError || error instanceof OutOfMemoryError;
}
