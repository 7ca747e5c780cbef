/** Thread that processes bodies in shared memory. */
import { serveThread } from '../../local/threads/serve-thread.ts';
import { work } from './work.ts';

export interface WorkCall {
  readonly body: Uint8Array;
}

serveThread<WorkCall, number>(async () => ({
  call: async ({ body }) => ({ value: work(body) }),
}));
