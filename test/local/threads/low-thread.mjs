/** A process whose thread lowers its priority: prints the nice values of both. */
import { getPriority } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.once('message', ofThread => {
    process.stdout.write(JSON.stringify({ ofProcess: getPriority(process.pid), ofThread }));
    process.exit();
  });
} else {
  const { lowerThreadPriority } = await import('../../../local/threads/thread-priority.ts');
  lowerThreadPriority();
  parentPort.postMessage(getPriority(0));
}
