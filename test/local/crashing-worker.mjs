/** A worker for tests of the pool: what a task's first byte says is what it does. */
import { parentPort } from 'node:worker_threads';

let cancelled = false;
parentPort.on('message', message => {
  if (message.kind === 'cancel') {
    cancelled = true;
    return;
  }
  const { id, task } = message;
  const answer = bytes => parentPort.postMessage({ kind: 'answer', id, answer: Uint8Array.from(bytes) });
  switch (task[0]) {
    case 0:
      return answer([...task, 1]);
    case 1:
      return process.exit(3);
    case 2: {
      const kept = [];
      for (;;) kept.push(new Array(10_000).fill(Math.random()));
    }
    case 3: {
      // Until it is cancelled; tells whether it was, to the task behind it.
      const wait = () => (cancelled ? answer([9]) : setImmediate(wait));
      return wait();
    }
    case 4:
      return answer([cancelled ? 1 : 0]);
    case 5:
      for (;;);
  }
});
parentPort.postMessage({ kind: 'ready' });
