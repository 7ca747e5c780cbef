/** Counterpart of ThreadClient inside a thread. The file of the thread calls `serveThread` once. */
import { parentPort } from 'node:worker_threads';
import type { FromThread, Movable, Moved, ToThread } from './messages.ts';
import { errorOf, thrownOf } from './thrown-errors.ts';

/** Requests and messages of the thread to its starter. */
export interface Starter {
  /** Rejects with the starter's error, and immediately with the reason of the signal. */
  ask(
    ask: unknown,
    options?: { readonly signal?: AbortSignal; readonly moved?: Movable[] },
  ): Promise<unknown>;
  tell(tell: unknown, moved?: Movable[]): void;
}

export interface ThreadService<Call, Answer> {
  /** `signal` aborts when the caller does not need the result any more. */
  call(call: Call, signal: AbortSignal): Promise<Moved<Answer>>;
  /** Must not throw. */
  hear?(tell: unknown): void;
  /** Completes its work. The thread exits when it resolves. */
  stop?(): Promise<void>;
}

/** Calls wait until `open` resolves. If it rejects, the thread reports the reason to the starter and ends. */
export function serveThread<Call, Answer>(
  open: (starter: Starter) => Promise<ThreadService<Call, Answer>>,
): void {
  if (parentPort === null) throw new Error('this file is run as a worker thread');
  const port = parentPort;
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  const cancels = new Map<number, AbortController>();
  const running = new Set<Promise<void>>();
  let nextAsk = 1;

  function send(message: FromThread<Answer>, moved?: Movable[]): void {
    port.postMessage(message, moved);
  }

  const starter: Starter = {
    async ask(ask, { signal, moved } = {}) {
      signal?.throwIfAborted();
      const id = nextAsk++;
      const answered = Promise.withResolvers<unknown>();
      const cancel = () => {
        send({ kind: 'cancel-ask', id });
        answered.reject(signal!.reason);
      };
      asked.set(id, answered);
      send({ kind: 'ask', id, ask }, moved);
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        return await answered.promise;
      } finally {
        signal?.removeEventListener('abort', cancel);
        asked.delete(id);
      }
    },
    tell: (tell, moved) => send({ kind: 'tell', tell }, moved),
  };

  const opened = open(starter);
  opened.then(
    () => send({ kind: 'ready' }),
    (error: unknown) => {
      send({ kind: 'broken', error: thrownOf(error) });
      process.exit(1);
    },
  );

  async function run(id: number, call: Call): Promise<void> {
    const cancel = new AbortController();
    cancels.set(id, cancel);
    try {
      const { value: answer, moved } = await (await opened).call(call, cancel.signal);
      send({ kind: 'answer', id, answer }, moved);
    } catch (error) {
      send({ kind: 'failed', id, error: thrownOf(error) });
    } finally {
      cancels.delete(id);
    }
  }

  async function stop(): Promise<void> {
    const service = await opened.catch(() => undefined);
    await Promise.all(running);
    await service?.stop?.();
    process.exit(0);
  }

  port.on('message', (message: ToThread<Call>) => {
    switch (message.kind) {
      case 'call': {
        const ended = run(message.id, message.call).finally(() => running.delete(ended));
        running.add(ended);
        return;
      }
      case 'cancel':
        send({ kind: 'heard' });
        cancels.get(message.id)?.abort(new DOMException('canceled', 'AbortError'));
        return;
      case 'reply':
        asked.get(message.id)?.resolve(message.reply);
        return;
      case 'refused':
        asked.get(message.id)?.reject(errorOf(message.error));
        return;
      case 'tell':
        void opened.then(service => service.hear?.(message.tell)).catch(() => undefined);
        return;
      case 'stop':
        void stop();
    }
  });
}
