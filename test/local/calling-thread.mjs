/** A thread for tests of calls: what a call says is what it does. */
import { parentPort, workerData } from 'node:worker_threads';

const cancelled = new Set();
/** Calls by the number of what was asked for them. */
const asks = new Map();
parentPort.on('message', ({ kind, id, call, reply, error }) => {
  if (kind === 'reply' || kind === 'refused') {
    parentPort.postMessage({ kind: 'answer', id: asks.get(id), answer: reply ?? error.message });
    return;
  }
  if (kind === 'cancel') {
    cancelled.add(id);
    return;
  }
  const answer = value => parentPort.postMessage({ kind: 'answer', id, answer: value });
  switch (call.does) {
    case 'echo':
      return answer([call.what, workerData]);
    case 'ask':
      asks.set(asks.size + 1, id);
      parentPort.postMessage({ kind: 'tell', tell: call.what });
      return parentPort.postMessage({ kind: 'ask', id: asks.size, ask: call.what });
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
