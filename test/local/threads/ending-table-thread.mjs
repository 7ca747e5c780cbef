/** The thread of the table, which ends when it is to write the key `end`. */
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ kind, call }) => {
  if (kind !== 'call' || call.kind !== 'write') return;
  if (call.writes.some(({ item }) => item?.sk === 'end')) process.exit(3);
});
await import('../../../local/threads/table-thread.ts');
