/** One thread of the pool: started when it is first needed, given one task at a time, replaced when it has ended. */
import { Worker } from 'node:worker_threads';
import { BadRequestError } from '../shared/model/errors.ts';
import { InvokerError } from '../shared/ports/invoker.ts';
import type { ToPool, ToWorker, WorkerData } from './worker-messages.ts';

/**
 * A task keeps no more in the heap than the entries that it returns (128 MiB of text at most); pages and states lie in
 * buffers outside. A heap without bound would let one query end the process.
 */
const MAX_HEAP_MB = 384;
const MAX_YOUNG_MB = 4;

const OUT_OF_MEMORY =
  'a part of the query needs more memory than a worker has; reduce the time range or the limit';

interface Current {
  readonly id: number;
  resolve(answer: Uint8Array): void;
  reject(error: Error): void;
}

/** The thread ended by itself, with a task or without. */
export class ThreadLostError extends InvokerError {}

export class WorkerThread {
  private readonly data: WorkerData;
  private readonly entry: URL;
  private worker: Worker | undefined;
  private current: Current | undefined;
  private nextId = 1;
  /** Threads that have been started, the running one included. */
  starts = 0;

  constructor(data: WorkerData, entry: URL) {
    this.data = data;
    this.entry = entry;
  }

  get isBusy(): boolean {
    return this.current !== undefined;
  }

  /** Throws ThreadLostError, BadRequestError where the task needs too much memory, InvokerError. */
  run(task: Uint8Array): Promise<Uint8Array> {
    this.worker ??= this.start();
    // Not moved but copied: where the thread is lost, the task is tried once more.
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.current = { id, resolve, reject };
      this.worker?.ref();
      this.send({ kind: 'run', id, task });
    });
  }

  /** Asks the thread to stop what it is at. */
  cancel(): void {
    if (this.current !== undefined) this.send({ kind: 'cancel', id: this.current.id });
  }

  /** Ends the thread; its task rejects. A later `run` starts another. */
  async stop(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
    this.settle()?.reject(new ThreadLostError('the query worker was stopped'));
  }

  private send(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  private start(): Worker {
    const worker = new Worker(this.entry, {
      workerData: this.data,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // Those of the program are for its main thread: flags of V8 hold for the process, and others are refused.
      execArgv: [],
    });
    this.starts++;
    let cause: unknown;
    worker.on('message', (message: ToPool) => this.receive(message));
    worker.on('error', error => {
      cause = error;
    });
    worker.on('exit', code => {
      if (this.worker === worker) this.lost(code, cause);
    });
    return worker;
  }

  private receive(message: ToPool): void {
    if (message.kind === 'ready' || message.id !== this.current?.id) return;
    const current = this.settle()!;
    if (message.kind === 'answer') current.resolve(message.answer);
    else current.reject(new InvokerError(`a query worker failed: ${message.message}`));
  }

  private lost(code: number, cause: unknown): void {
    this.worker = undefined;
    const current = this.settle();
    if (current === undefined) return;
    const reason = (cause as { code?: unknown } | undefined)?.code;
    current.reject(
      reason === 'ERR_WORKER_OUT_OF_MEMORY'
        ? new BadRequestError(OUT_OF_MEMORY, { cause })
        : new ThreadLostError(`a query worker ended with code ${code}`, { cause }),
    );
  }

  /** The task that is under way, which is over now. */
  private settle(): Current | undefined {
    const { current } = this;
    this.current = undefined;
    // A program that waits for nothing else may end.
    this.worker?.unref();
    return current;
  }
}
