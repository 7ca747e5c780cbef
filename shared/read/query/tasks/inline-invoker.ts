/** Runs tasks in this thread, one after the other: if there are no others, and in tests and simulations. */
import type { Invoker } from '../../../base/ports/invoker.ts';
import { TaskRunner, type TaskRunnerParts } from './task-runner.ts';

export function inlineInvoker(parts: TaskRunnerParts): Invoker {
  const runner = new TaskRunner(parts);
  return {
    slots: 1,
    invoke: (task, { signal }) => runner.run(task, signal),
    close: async () => undefined,
  };
}
