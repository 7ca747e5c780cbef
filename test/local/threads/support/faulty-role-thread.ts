/** The thread of a role, which makes the faults that requests and tasks name (faults.ts) once it has begun to work on them. */
import { parentPort } from 'node:worker_threads';
import '../../../../local/threads/role-thread.ts';
import type { FromThread, ToThread } from '../../../../local/threads/messages.ts';
import type { RoleAnswer, RoleCall } from '../../../../local/threads/role-messages.ts';
import { FAULT_HEADER, makeFault } from './faults.ts';

const port = parentPort!;

/** Calls come while the thread starts, and are worked on when it is ready. */
const ready = Promise.withResolvers<void>();
const send = port.postMessage.bind(port);
port.postMessage = (message: FromThread<RoleAnswer>, moved?: unknown) => {
  send(message, moved as ArrayBuffer[]);
  if (message.kind === 'ready') ready.resolve();
};

port.on('message', async (message: ToThread<RoleCall>) => {
  if (message.kind !== 'call') return;
  await ready.promise;
  const { call } = message;
  if (call.kind === 'request') makeFault(call.request.headers[FAULT_HEADER] ?? '');
  if (call.kind === 'task') makeFault(Buffer.from(call.task).toString('latin1'));
});
