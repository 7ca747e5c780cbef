/**
 * The thread of a query worker: takes tasks by message, one at a time, and answers with bytes. It reads objects through a
 * store of its own and knows no table. Runs from the source tree and as a file of its own beside a bundle.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../shared/model/errors.ts';
import { PageCache } from '../shared/query/page-cache.ts';
import { TaskRunner } from '../shared/query/tasks/task-runner.ts';
import { openObjectStore } from './open-object-store.ts';
import { systemClock } from './system-clock.ts';
import { lowerThreadPriority } from './thread-priority.ts';
import type { ToPool, ToWorker, WorkerData } from './worker-messages.ts';

if (parentPort === null) throw new Error('query-worker.ts is run as a worker thread');
const port = parentPort;
lowerThreadPriority();
const { storage, pageCacheBytes } = workerData as WorkerData;
const runner = openObjectStore(storage).then(
  store => new TaskRunner({ store, clock: systemClock, cache: new PageCache(pageCacheBytes) }),
);
/** Of the tasks under way, by number. */
const cancels = new Map<number, AbortController>();

port.on('message', (message: ToWorker) => {
  if (message.kind === 'cancel') cancels.get(message.id)?.abort(new DOMException('cancelled', 'AbortError'));
  else void run(message.id, message.task);
});
send({ kind: 'ready' });

async function run(id: number, task: Uint8Array): Promise<void> {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  try {
    const answer = await (await runner).run(task, cancel.signal);
    // A buffer of its own can be moved; a small one is a part of Node's pool, and stays.
    const own = answer.byteLength === answer.buffer.byteLength ? answer : new Uint8Array(answer);
    send({ kind: 'answer', id, answer: own }, [own.buffer as ArrayBuffer]);
  } catch (error) {
    send({ kind: 'failed', id, message: messageOf(error) });
  } finally {
    cancels.delete(id);
  }
}

function send(message: ToPool, moved: ArrayBuffer[] = []): void {
  port.postMessage(message, moved);
}
