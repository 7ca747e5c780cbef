/**
 * One thread, seen from the thread that started it. This is the only place that starts, watches, restarts and stops threads. A thread
 * that ends by itself is started again at once (after a pause if it never became ready); what it was working on rejects with
 * ThreadLostError, and the caller decides whether to try again.
 */
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../shared/base/model/errors.ts';
import type { FromThread, Moved, ToThread } from './messages.ts';
import type { ThreadEntry } from './thread-entry.ts';
import { ThreadLostError, ThreadMemoryError } from './thread-errors.ts';
import { errorOf, thrownOf } from './thrown-errors.ts';

/** Answers questions of the thread, and hears what it tells. */
export interface ThreadHub {
  /** `signal` aborts when the thread does not want the reply any more. */
  reply(ask: unknown, signal: AbortSignal): Promise<Moved<unknown>>;
  /** Must not throw. */
  hear(tell: unknown): void;
}

export interface ThreadOptions {
  /** For logs, metrics and debuggers, for example `ingest-0`. */
  readonly name: string;
  readonly entry: ThreadEntry;
  /** What it is started with, asked at each start. */
  readonly data: () => unknown;
  /** Of its JavaScript heap; pages, bodies and states lie outside. */
  readonly maxHeapMb: number;
  /** Default: it asks and tells nothing. */
  readonly hub?: ThreadHub;
  /** Called when a thread is ready, after each restart too. Must not throw. */
  readonly onReady?: () => void;
  /** Called when a thread ended by itself, before it is started again. Must not throw. */
  readonly onLost?: ((error: Error) => void) | undefined;
  /** Default: THREAD_TIMES. */
  readonly times?: Partial<ThreadTimes> | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Buffers in the call that are moved, not copied. */
  readonly moved?: ArrayBuffer[] | undefined;
}

/** The young generation of a heap: what is young in a thread of this program is short-lived. */
const MAX_YOUNG_MB = 8;

export interface ThreadTimes {
  /** Before a thread that never became ready is started again. */
  readonly restartPauseMs: number;
  /** For a thread to let go of a call that was cancelled: until then the call counts, and so does the memory that it holds. */
  readonly letGoMs: number;
  /** A thread that does not notice for so long that a call was cancelled hangs, and is ended. Its longest steps take seconds. */
  readonly hangMs: number;
  /** For a thread to end what it is doing once it was told to stop; then it is terminated. */
  readonly stopMs: number;
}

const THREAD_TIMES: ThreadTimes = {
  restartPauseMs: 1000,
  letGoMs: 1000,
  hangMs: 60_000,
  stopMs: 10_000,
};

export class ThreadClient<Call, Answer> {
  readonly name: string;
  readonly #options: ThreadOptions;
  readonly #times: ThreadTimes;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  /** What the running thread asked; the next one begins its numbers anew. */
  #asked = new Map<number, AbortController>();
  #worker: Worker | undefined;
  #ready = Promise.withResolvers<void>();
  #isReady = false;
  #restart: NodeJS.Timeout | undefined;
  /** Runs while the thread has not noticed that a call was cancelled. */
  #hanging: NodeJS.Timeout | undefined;
  /** Why the thread is about to end. */
  #cause: unknown;
  #isStopped = false;
  #nextId = 1;
  /** Threads that were started, the running one included. */
  starts = 0;

  constructor(options: ThreadOptions) {
    this.name = options.name;
    this.#options = options;
    this.#times = { ...THREAD_TIMES, ...options.times };
    // Whoever waits hears of it; nobody has to.
    this.#ready.promise.catch(() => undefined);
    this.#start();
  }

  /** Whether the thread answers calls at once; otherwise they wait until it has started. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls without an answer. */
  get running(): number {
    return this.#waiting.size;
  }

  /** Busy and idle time of the thread's event loop since it was started, ms; zeros if there is none. */
  get utilization(): { readonly idle: number; readonly active: number } {
    return this.#worker?.performance.eventLoopUtilization() ?? { idle: 0, active: 0 };
  }

  /** Resolves when the thread has opened what it needs; rejects with the reason if it cannot. */
  async ready(): Promise<void> {
    if (this.#isStopped) throw this.#stopped();
    await this.#ready.promise;
  }

  /**
   * Rejects with what the thread failed with, and ThreadLostError. If the signal aborts, rejects with its reason as soon as the
   * thread has let go of the call, or `letGoMs` later.
   */
  async call(call: Call, { signal, moved }: CallOptions = {}): Promise<Answer> {
    signal?.throwIfAborted();
    const worker = this.#worker;
    if (this.#isStopped) throw this.#stopped();
    if (worker === undefined) throw new ThreadLostError(`the thread ${this.name} is not running`);
    const id = this.#nextId++;
    worker.postMessage({ kind: 'call', id, call } satisfies ToThread<Call>, moved);
    const answered = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answered);
    let late: NodeJS.Timeout | undefined;
    const cancel = () => {
      worker.postMessage({ kind: 'cancel', id } satisfies ToThread<Call>);
      this.#hanging ??= setTimeout(() => this.#endHanging(worker), this.#times.hangMs).unref();
      late = setTimeout(() => answered.reject(signal!.reason), this.#times.letGoMs);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await answered.promise;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', cancel);
      this.#waiting.delete(id);
      signal?.throwIfAborted();
    }
  }

  /** Without an answer. A thread that is not running hears nothing. */
  tell(tell: unknown): void {
    this.#worker?.postMessage({ kind: 'tell', tell } satisfies ToThread<Call>);
  }

  /** Lets the thread end its work, then ends it; what is left rejects. It is not started again. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker !== undefined) {
      const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
      worker.postMessage({ kind: 'stop' } satisfies ToThread<Call>);
      const timer = setTimeout(() => void worker.terminate(), this.#times.stopMs);
      await exited;
      clearTimeout(timer);
    }
    this.#end(this.#stopped());
  }

  /** Ends the thread at once, as if it had been lost. */
  async terminate(): Promise<void> {
    await this.#worker?.terminate();
  }

  #stopped(): ThreadLostError {
    return new ThreadLostError(`the thread ${this.name} is stopped`);
  }

  #start(): void {
    const { name, entry, data, maxHeapMb: maxOldGenerationSizeMb } = this.#options;
    const isText = 'code' in entry;
    const worker = new Worker(isText ? entry.code : entry, {
      name,
      eval: isText,
      workerData: data(),
      resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
      // Those of the program are for its main thread: flags of V8 hold for the process, and others are refused.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#worker = worker;
    this.starts++;
    this.#cause = undefined;
    worker.on('message', (message: FromThread<Answer>) => this.#receive(worker, message));
    worker.on('error', error => {
      this.#cause = error;
    });
    worker.on('exit', code => this.#lost(worker, code));
  }

  #receive(worker: Worker, message: FromThread<Answer>): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        this.#ready.resolve();
        this.#options.onReady?.();
        return;
      case 'broken':
        this.#ready.reject(errorOf(message.error));
        return;
      case 'heard':
        clearTimeout(this.#hanging);
        this.#hanging = undefined;
        return;
      case 'answer':
        this.#waiting.get(message.id)?.resolve(message.answer);
        return;
      case 'failed':
        this.#waiting.get(message.id)?.reject(errorOf(message.error));
        return;
      case 'ask':
        void this.#reply(worker, message.id, message.ask);
        return;
      case 'cancel-ask':
        this.#asked.get(message.id)?.abort(new DOMException('cancelled', 'AbortError'));
        return;
      case 'tell':
        this.#options.hub?.hear(message.tell);
    }
  }

  /** If the thread ended meanwhile, what it asked for is done all the same. */
  async #reply(worker: Worker, id: number, ask: unknown): Promise<void> {
    const { hub } = this.#options;
    const asked = this.#asked;
    const cancel = new AbortController();
    asked.set(id, cancel);
    try {
      if (hub === undefined) throw new Error(`nobody answers the thread ${this.name}`);
      const { value: reply, moved } = await hub.reply(ask, cancel.signal);
      worker.postMessage({ kind: 'reply', id, reply } satisfies ToThread<Call>, moved);
    } catch (error) {
      worker.postMessage({ kind: 'refused', id, error: thrownOf(error) } satisfies ToThread<Call>);
    } finally {
      asked.delete(id);
    }
  }

  #endHanging(worker: Worker): void {
    this.#cause = new Error(`the thread did not react for ${this.#times.hangMs} ms`);
    void worker.terminate();
  }

  #lost(worker: Worker, code: number): void {
    if (this.#worker !== worker) return;
    const cause = this.#cause;
    this.#worker = undefined;
    const isMemory = (cause as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const reason = `the thread ${this.name} ended with code ${code}${cause === undefined ? '' : `: ${messageOf(cause)}`}`;
    const error = isMemory
      ? new ThreadMemoryError(reason, { cause })
      : new ThreadLostError(reason, { cause });
    const wasReady = this.#isReady;
    this.#end(error);
    if (this.#isStopped) return;
    this.#options.onLost?.(error);
    if (wasReady) this.#start();
    else this.#restart = setTimeout(() => this.#start(), this.#times.restartPauseMs);
  }

  #end(error: Error): void {
    // A new thread has to become ready by itself; if this one never did, whoever waits for it hears why.
    this.#ready.reject(error);
    this.#ready = Promise.withResolvers();
    this.#ready.promise.catch(() => undefined);
    this.#isReady = false;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
    for (const asked of this.#asked.values()) asked.abort(error);
    this.#asked = new Map();
    clearTimeout(this.#hanging);
    this.#hanging = undefined;
  }
}
