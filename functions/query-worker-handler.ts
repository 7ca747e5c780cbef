/**
 * Function that runs query tasks: receives a task and returns its result. It only reads objects, and calls itself to
 * merge the results of many tasks (shared/read/query/tasks/merge-chunks.ts).
 */

import { createLambdaInvoker } from '../shared/aws/lambda-invoker.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import type { Invoker } from '../shared/base/ports/invoker.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../shared/read/query/chunk-source.ts';
import { FUNCTION_BUDGET_BYTES, ReadAheadBudget } from '../shared/read/query/read-ahead-budget.ts';
import { functionTaskSizes, MERGED_TASKS } from '../shared/read/query/tasks/plan-tasks.ts';
import { QueryWorkers } from '../shared/read/query/tasks/query-workers.ts';
import { TaskRunner, type TaskRunnerParts } from '../shared/read/query/tasks/task-runner.ts';
import { readSettings } from './settings.ts';
import { createTaskHandler, type TaskHandler } from './task-handler.ts';

type QueryWorkerHandler = TaskHandler;

export function createQueryWorker(environment: Environment): QueryWorkerHandler {
  const settings = readSettings(environment);
  const { store } = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const clock = SYSTEM_CLOCK;
  const name = environment.AWS_LAMBDA_FUNCTION_NAME;
  if (!name) return queryWorkerHandler({ store, clock, ranIn: 'query-worker' });
  return queryWorkerHandler({ store, clock, ranIn: name, workers: callingItself(name, { store, clock }) });
}

/** Calls of the same function, for the parts of a merging task. */
function callingItself(functionName: string, parts: Pick<TaskRunnerParts, 'store' | 'clock'>): QueryWorkers {
  const runner = new TaskRunner(parts);
  const here: Invoker = {
    slots: 1,
    invoke: (task, { signal }) => runner.run(task, signal),
    close: async () => undefined,
  };
  const { clock } = parts;
  const invoker = createLambdaInvoker({ functionName, here, slots: MERGED_TASKS, clock });
  return new QueryWorkers(invoker, { sizes: functionTaskSizes(MERGED_TASKS) });
}

/**
 * Same as createQueryWorker, with a given store. Throws if the function runs out of time or the event is not
 * a task.
 */
export function queryWorkerHandler(
  parts: Pick<TaskRunnerParts, 'store' | 'clock' | 'ranIn' | 'workers'>,
): QueryWorkerHandler {
  const { store } = parts;
  const readAhead = new ReadAheadBudget(store.isDistant, FUNCTION_BUDGET_BYTES);
  const runner = new TaskRunner({
    ...parts,
    source: new ChunkSource(store, undefined, undefined, readAhead),
  });
  return createTaskHandler((task, signal) => runner.run(task, signal));
}
