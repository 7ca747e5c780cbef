/**
 * Manages one thread from the thread that started it. Only this module starts, watches, restarts and stops
 * threads. A thread that ends unexpectedly is restarted immediately, or after a pause if it never became
 * ready. Its running calls reject with ThreadLostError, and the caller decides whether to retry.
 */
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../shared/base/model/errors.ts';
import type { FromThread, Movable, Moved, ToThread } from './messages.ts';
import type { ThreadEntry } from './thread-entry.ts';
import { ThreadLostError, ThreadMemoryError } from './thread-errors.ts';
import { errorOf, thrownOf } from './thrown-errors.ts';

/** Handles requests and messages of the thread. */
export interface ThreadHub {
  /** `signal` aborts when the thread does not need the reply any more. */
  reply(ask: unknown, signal: AbortSignal): Promise<Moved<unknown>>;
  /** Must not throw. */
  hear(tell: unknown): void;
}

export interface ThreadOptions {
  /** Name for logs, metrics and debuggers, for example `ingest-0`. */
  readonly name: string;
  readonly entry: ThreadEntry;
  /** Creates the start data at each start. */
  readonly data: () => unknown;
  /** Limit of its JavaScript heap. Pages, bodies and states are outside. */
  readonly maxHeapMb: number;
  /** Default: the thread sends no requests and messages. */
  readonly hub?: ThreadHub;
  /** Called when a thread is ready, also after a restart. Must not throw. */
  readonly onReady?: () => void;
  /** Called when a thread ended unexpectedly, before its restart. Must not throw. */
  readonly onLost?: ((error: Error) => void) | undefined;
  /** Default: THREAD_TIMES. */
  readonly times?: Partial<ThreadTimes> | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  /** Objects in the call that are moved instead of copied. */
  readonly moved?: Movable[] | undefined;
}

/** Young generation of the heap. Young objects of threads in this program are short-lived. */
const MAX_YOUNG_MB = 8;

interface ThreadTimes {
  /** Pause before restarting a thread that never became ready. */
  readonly restartPauseMs: number;
  /** Time for a thread to release a canceled call. Until then the call and its memory still count. */
  readonly letGoMs: number;
  /**
   * A thread that does not confirm a canceled call in this time hangs, and is terminated. Its longest steps
   * take seconds.
   */
  readonly hangMs: number;
  /** Time for a thread to complete its work after a stop. Then it is terminated. */
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
  /** Requests of the running thread. After a restart, numbers start again. */
  #asked = new Map<number, AbortController>();
  #worker: Worker | undefined;
  #ready = Promise.withResolvers<void>();
  #isReady = false;
  #restart: NodeJS.Timeout | undefined;
  /** Timer that runs until the thread confirms a canceled call. */
  #hanging: NodeJS.Timeout | undefined;
  /** Reason why the thread is about to end. */
  #cause: unknown;
  #isStopped = false;
  #nextId = 1;
  /** Number of started threads, including the running one. */
  starts = 0;
  /** Number of completed calls. */
  completed = 0;

  constructor(options: ThreadOptions) {
    this.name = options.name;
    this.#options = options;
    this.#times = { ...THREAD_TIMES, ...options.times };
    // Prevents an unhandled rejection if no caller waits.
    this.#ready.promise.catch(() => undefined);
    this.#start();
  }

  /** True if the thread handles calls immediately. Otherwise they wait for its start. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Number of pending calls. */
  get running(): number {
    return this.#waiting.size;
  }

  /** Busy and idle time of the thread's event loop since its start, ms; zeros without a thread. */
  get utilization(): { readonly idle: number; readonly active: number } {
    return this.#worker?.performance.eventLoopUtilization() ?? { idle: 0, active: 0 };
  }

  /** Resolves when the thread has opened its resources. Rejects with the reason if it cannot. */
  async ready(): Promise<void> {
    if (this.#isStopped) throw this.#stopped();
    await this.#ready.promise;
  }

  /**
   * Rejects with the thread's error or ThreadLostError. If the signal aborts, rejects with its reason when
   * the thread has released the call, or `letGoMs` later.
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

  /** Sends a message without a reply. A thread that is not running does not receive it. */
  tell(tell: unknown): void {
    this.#worker?.postMessage({ kind: 'tell', tell } satisfies ToThread<Call>);
  }

  /** Lets the thread complete its work, then ends it without a restart. Remaining calls reject. */
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

  /** Terminates the thread immediately, as if it had been lost. */
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
      // Options of the program are for its main thread. V8 flags apply to the whole process, and Node refuses
      // others here.
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
        this.completed++;
        this.#waiting.get(message.id)?.resolve(message.answer);
        return;
      case 'failed':
        this.completed++;
        this.#waiting.get(message.id)?.reject(errorOf(message.error));
        return;
      case 'ask':
        void this.#reply(worker, message.id, message.ask);
        return;
      case 'cancel-ask':
        this.#asked.get(message.id)?.abort(new DOMException('canceled', 'AbortError'));
        return;
      case 'tell':
        this.#options.hub?.hear(message.tell);
    }
  }

  /** Completes the request even if the thread ends meanwhile. */
  async #reply(worker: Worker, id: number, ask: unknown): Promise<void> {
    const { hub } = this.#options;
    const asked = this.#asked;
    const cancel = new AbortController();
    asked.set(id, cancel);
    try {
      if (hub === undefined) throw new Error(`no component handles requests of the thread ${this.name}`);
      const { value: reply, moved } = await hub.reply(ask, cancel.signal);
      worker.postMessage({ kind: 'reply', id, reply } satisfies ToThread<Call>, moved);
    } catch (error) {
      worker.postMessage({ kind: 'refused', id, error: thrownOf(error) } satisfies ToThread<Call>);
    } finally {
      asked.delete(id);
    }
  }

  #endHanging(worker: Worker): void {
    this.#cause = new Error(`the thread did not respond for ${this.#times.hangMs} ms`);
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
    // The next thread becomes ready separately. If this one never did, its waiters get the reason.
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
