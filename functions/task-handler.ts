/**
 * Runs a task of another function, a query task or a merge. The event contains the task and the response its
 * result, both base64 in JSON.
 */

import { MAX_RAW_PAYLOAD_BYTES, type WorkerEvent, type WorkerResult } from '../shared/aws/lambda-invoker.ts';
import type { LambdaContext } from './lambda-event.ts';

export type TaskHandler = (event: WorkerEvent, context: LambdaContext) => Promise<WorkerResult>;

/** Time reserved at the end of the function to report a timeout, in ms. */
const MARGIN_MS = 500;

/** Throws the errors of the task, including a timeout of the function. */
export function createTaskHandler(
  run: (task: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>,
): TaskHandler {
  return async ({ task }, context) => {
    const signal = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - MARGIN_MS));
    const answer = await run(Buffer.from(task, 'base64'), signal);
    if (answer.length > MAX_RAW_PAYLOAD_BYTES) return { tooLarge: answer.length };
    return { answer: Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('base64') };
  };
}

export function isTaskEvent(event: unknown): event is WorkerEvent {
  return typeof (event as Partial<WorkerEvent> | null | undefined)?.task === 'string';
}
