/** A process whose thread lowers its priority and raises it again: prints the nice values of both, and whether it may be raised. */
import { getPriority } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.once('message', thread => {
    process.stdout.write(JSON.stringify({ ofProcess: getPriority(process.pid), ...thread }));
    process.exit();
  });
} else {
  const { lowerThreadPriority, raiseThreadPriority } = await import(
    '../../../local/threads/thread-priority.ts'
  );
  lowerThreadPriority();
  const ofThread = getPriority(0);
  const isRaised = raiseThreadPriority();
  parentPort.postMessage({ ofThread, isRaised, raised: getPriority(0) });
}
