/** Function that runs query tasks: receives a task and returns its result. It only reads objects. */

import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { TaskRunner, type TaskRunnerParts } from '../shared/read/query/tasks/task-runner.ts';
import { readSettings } from './settings.ts';
import { createTaskHandler, type TaskHandler } from './task-handler.ts';

type QueryWorkerHandler = TaskHandler;

export function createQueryWorker(environment: Environment): QueryWorkerHandler {
  const settings = readSettings(environment);
  const { store } = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const place = environment.AWS_LAMBDA_FUNCTION_NAME || 'query-worker';
  return queryWorkerHandler({ store, clock: SYSTEM_CLOCK, place });
}

/**
 * Same as createQueryWorker, with a given store. Throws if the function runs out of time or the event is not
 * a task.
 */
export function queryWorkerHandler(
  parts: Pick<TaskRunnerParts, 'store' | 'clock' | 'place'>,
): QueryWorkerHandler {
  const runner = new TaskRunner(parts);
  return createTaskHandler((task, signal) => runner.run(task, signal));
}
