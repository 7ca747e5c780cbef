/**
 * Contract of invokers, run for all of them. Worker threads read files; the function is its own handler
 * behind JSON.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { queryWorkerHandler } from '../../../functions/query-worker-handler.ts';
import { openFileObjectStore } from '../../../local/file-object-store.ts';
import type { RoleAnswer, RoleCall } from '../../../local/threads/role-messages.ts';
import { taskInvoker } from '../../../local/threads/task-invoker.ts';
import { ThreadClient } from '../../../local/threads/thread-client.ts';
import { threadEntry } from '../../../local/threads/thread-entry.ts';
import { lambdaInvoker } from '../../../shared/aws/lambda-invoker.ts';
import { kernelModule } from '../../../shared/base/kernels/kernels.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { TaskRunner, type TaskRunnerParts } from '../../../shared/read/query/tasks/task-runner.ts';
import { DEFAULT_CONFIG } from '../../../shared/server/admin/config-fields.ts';
import { invokerContract } from '../../ports/invoker.contract.ts';

/** Maximum payload of Lambda, bytes. */
const MAX_PAYLOAD = 6 * 1024 * 1024;

invokerContract(
  'this thread',
  async () => memoryObjectStore(),
  async parts => ({ invoker: inlineInvoker(parts) }),
);

let dataDir = '';
invokerContract(
  'query threads',
  async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'logboom-invokers-'));
    return openFileObjectStore(dataDir);
  },
  async parts => {
    const thread = new ThreadClient<RoleCall, RoleAnswer>({
      name: 'query-1',
      entry: threadEntry('role-thread'),
      maxHeapMb: 512,
      data: () => ({
        role: 'query',
        index: 1,
        threads: 2,
        // No page cache, because the reads of tasks are compared.
        config: { ...DEFAULT_CONFIG, logboom: { ...DEFAULT_CONFIG.logboom, pageCacheBytes: 0 } },
        storage: { kind: 'embedded', dataDir },
        isAlone: true,
        isDebug: false,
        isDiskFull: false,
        readOnly: false,
        kernels: kernelModule(),
      }),
    });
    const runner = new TaskRunner(parts);
    const invoker = taskInvoker({
      threads: 2,
      index: 0,
      here: (task, signal) => runner.run(task, signal),
      there: async (task, _affinity, signal) =>
        (await thread.call({ kind: 'task', task }, { signal })).bytes!,
    });
    const close = async () => {
      await thread.stop();
      await rm(dataDir, { recursive: true });
    };
    return { invoker, close };
  },
);

invokerContract(
  'a function on Lambda',
  async () => memoryObjectStore(),
  async parts => {
    const client = functionBehindLambda(parts);
    const here = inlineInvoker(parts);
    const invoker = lambdaInvoker({
      client: () => client,
      functionName: 'worker',
      here,
      clock: SYSTEM_CLOCK,
      slots: 4,
    });
    return { invoker };
  },
);

/** Passes events and results like Lambda: as JSON up to its size, with function errors next to the status. */
function functionBehindLambda(parts: TaskRunnerParts): Pick<LambdaClient, 'send'> {
  const handler = queryWorkerHandler(parts);
  const context = { awsRequestId: 'one', getRemainingTimeInMillis: () => 60_000 };
  const respond = async (payload: Uint8Array) => {
    if (payload.length > MAX_PAYLOAD) {
      throw Object.assign(new Error('too large'), { $metadata: { httpStatusCode: 413 } });
    }
    try {
      const result = JSON.stringify(await handler(JSON.parse(Buffer.from(payload).toString()), context));
      if (result.length > MAX_PAYLOAD) {
        return { FunctionError: 'Unhandled', Payload: Buffer.from('{"errorType":"ResponseSizeTooLarge"}') };
      }
      return { Payload: Buffer.from(result) };
    } catch (error) {
      return {
        FunctionError: 'Unhandled',
        Payload: Buffer.from(JSON.stringify({ errorMessage: `${error}` })),
      };
    }
  };
  const send = (
    { input }: { input: { Payload: Uint8Array } },
    { abortSignal }: { abortSignal: AbortSignal },
  ) =>
    new Promise((resolve, reject) => {
      abortSignal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), {
        once: true,
      });
      respond(input.Payload).then(resolve, reject);
    });
  return { send } as unknown as LambdaClient;
}
