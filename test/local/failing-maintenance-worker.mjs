/** A maintenance thread for tests: the tenant of what it is asked says what it does. */
import { parentPort } from 'node:worker_threads';

const waiting = new Map();
const end = (id, result, figures) => parentPort.postMessage({ kind: 'ended', id, result, figures });

parentPort.on('message', ({ kind, id, task, limits }) => {
  if (kind === 'close') return process.exit(0);
  if (kind === 'cancel') {
    const tenant = waiting.get(id);
    if (tenant === 'waits') {
      waiting.delete(id);
      end(id, { kind: 'cancelled' });
    }
    return;
  }
  switch (task.work.tenant) {
    case 'waits':
    case 'deaf':
      return waiting.set(id, task.work.tenant);
    case 'exits':
      return process.exit(3);
    case 'eats': {
      const kept = [];
      for (;;) kept.push(new Array(10_000).fill(Math.random()));
    }
    case 'hangs':
      for (;;);
    case 'rewrites':
      return end(
        id,
        { kind: 'failed', error: { name: 'CorruptionError', message: 'chunk x: broken' } },
        { rows: 3, looked: 2, readBytes: 10 },
      );
    default:
      // Tells what it was given, and how many others wait here.
      return end(id, { kind: 'compacted', report: { task, limits, others: waiting.size } });
  }
});
