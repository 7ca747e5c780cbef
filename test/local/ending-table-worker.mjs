/** The thread of the table, which ends when it is to write the key `end`. */
import { parentPort } from 'node:worker_threads';

parentPort.on('message', message => {
  const ends = ({ work }) => work.kind === 'write' && work.writes.some(({ item }) => item?.sk === 'end');
  if (message !== 'close' && message.calls.some(ends)) process.exit(3);
});
await import('../../local/table-worker.ts');
