/** The function that works on parts of queries: a task in, its answer out. It reads objects and nothing else. */

import { openAwsStorage } from '../shared/aws/storage.ts';
import { systemClock, systemIds } from '../shared/base/runtime/system-clock.ts';
import { TaskRunner, type TaskRunnerParts } from '../shared/read/query/tasks/task-runner.ts';
import { type Environment, readSettings } from './settings.ts';
import { createTaskHandler, type TaskHandler } from './task-handler.ts';

export type QueryWorkerHandler = TaskHandler;

export function createQueryWorker(environment: Environment): QueryWorkerHandler {
  const settings = readSettings(environment);
  const { store } = openAwsStorage({ ...settings, clock: systemClock, ids: systemIds });
  const place = environment.AWS_LAMBDA_FUNCTION_NAME || 'query-worker';
  return queryWorkerHandler({ store, clock: systemClock, place });
}

/** The same over a given store. Throws where the time of the function is over, and for an event that is no task. */
export function queryWorkerHandler(
  parts: Pick<TaskRunnerParts, 'store' | 'clock' | 'place'>,
): QueryWorkerHandler {
  const runner = new TaskRunner(parts);
  return createTaskHandler((task, signal) => runner.run(task, signal));
}
