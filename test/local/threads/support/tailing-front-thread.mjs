/**
 * A front whose only client opens a live tail as soon as it listens; it ends by itself when it receives a
 * commit that was deleted.
 */
import { workerData } from 'node:worker_threads';
import { serveThread } from '../../../../local/threads/serve-thread.ts';

serveThread(async starter => {
  const connectionId = `tail-${workerData.index}`;
  await starter.ask({ kind: 'open-tail', connectionId, request: { tenant: 'acme' } });
  return {
    call: async ({ kind }) => ({ value: kind === 'post' ? { outcome: 'ok' } : {} }),
    hear: () => process.exit(3),
  };
});
