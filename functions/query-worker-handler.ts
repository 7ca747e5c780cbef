/** The function that works on parts of queries: a task in, its answer out. It reads objects and nothing else. */
import { systemClock, systemIds } from '../local/system-clock.ts';
import { MAX_PAYLOAD_BYTES, type WorkerEvent, type WorkerResult } from '../shared/aws/lambda-invoker.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ObjectStore } from '../shared/ports/object-store.ts';
import { TaskRunner } from '../shared/query/tasks/task-runner.ts';
import type { LambdaContext } from './lambda-event.ts';
import { type Environment, readSettings } from './settings.ts';

/** Left to say that time is over, ms. */
const MARGIN_MS = 500;

export type QueryWorkerHandler = (event: WorkerEvent, context: LambdaContext) => Promise<WorkerResult>;

export function createQueryWorker(environment: Environment): QueryWorkerHandler {
  const settings = readSettings(environment);
  const { store } = openAwsStorage({ ...settings, clock: systemClock, ids: systemIds });
  return queryWorkerHandler({ store, clock: systemClock });
}

/** The same over a given store. Throws where the time of the function is over, and for an event that is no task. */
export function queryWorkerHandler(parts: { store: ObjectStore; clock: Clock }): QueryWorkerHandler {
  const runner = new TaskRunner(parts);
  return async ({ task }, context) => {
    const signal = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - MARGIN_MS));
    const answer = await runner.run(Buffer.from(task, 'base64'), signal);
    if (answer.length > MAX_PAYLOAD_BYTES) return { tooLarge: answer.length };
    return { answer: Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('base64') };
  };
}
