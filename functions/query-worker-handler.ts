/** Function that runs query tasks: receives a task and returns its result. It only reads objects. */

import { MAX_PAYLOAD_BYTES, type WorkerEvent, type WorkerResult } from '../shared/aws/lambda-invoker.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import { systemClock, systemIds } from '../shared/base/runtime/system-clock.ts';
import { TaskRunner, type TaskRunnerParts } from '../shared/read/query/tasks/task-runner.ts';
import type { LambdaContext } from './lambda-event.ts';
import { type Environment, readSettings } from './settings.ts';

/** Time reserved at the end of the function to report a timeout, in ms. */
const MARGIN_MS = 500;

export type QueryWorkerHandler = (event: WorkerEvent, context: LambdaContext) => Promise<WorkerResult>;

export function createQueryWorker(environment: Environment): QueryWorkerHandler {
  const settings = readSettings(environment);
  const { store } = openAwsStorage({ ...settings, clock: systemClock, ids: systemIds });
  const place = environment.AWS_LAMBDA_FUNCTION_NAME || 'query-worker';
  return queryWorkerHandler({ store, clock: systemClock, place });
}

/**
 * Same as createQueryWorker, with a given store. Throws if the function runs out of time or the event is not
 * a task.
 */
export function queryWorkerHandler(
  parts: Pick<TaskRunnerParts, 'store' | 'clock' | 'place'>,
): QueryWorkerHandler {
  const runner = new TaskRunner(parts);
  return async ({ task }, context) => {
    const signal = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - MARGIN_MS));
    const answer = await runner.run(Buffer.from(task, 'base64'), signal);
    if (answer.length > MAX_PAYLOAD_BYTES) return { tooLarge: answer.length };
    return { answer: Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('base64') };
  };
}
