/** A thread for tests of calls: what a call says is what it does. */
import { parentPort, workerData } from 'node:worker_threads';

const cancelled = new Set();
parentPort.on('message', ({ kind, id, call }) => {
  if (kind === 'cancel') {
    cancelled.add(id);
    return;
  }
  const answer = value => parentPort.postMessage({ kind: 'answer', id, answer: value });
  switch (call.does) {
    case 'echo':
      return answer([call.what, workerData]);
    case 'end':
      return process.exit(3);
    case 'fail':
      return parentPort.postMessage({ kind: 'failed', id, failure: call.failure });
    case 'fill': {
      const kept = [];
      for (;;) kept.push(new Array(10_000).fill(Math.random()));
    }
    case 'tellCancelled':
      return answer(cancelled.size);
  }
});
