/** Work that one function hands to another, a part of a query or a merge: a task in, its answer out, both base64 in JSON. */

import { MAX_PAYLOAD_BYTES, type WorkerEvent, type WorkerResult } from '../shared/aws/lambda-invoker.ts';
import type { LambdaContext } from './lambda-event.ts';

export type TaskHandler = (event: WorkerEvent, context: LambdaContext) => Promise<WorkerResult>;

/** Left to say that time is over, ms. */
const MARGIN_MS = 500;

/** Throws what the task throws, also because the time of the function is over. */
export function createTaskHandler(
  run: (task: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>,
): TaskHandler {
  return async ({ task }, context) => {
    const signal = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - MARGIN_MS));
    const answer = await run(Buffer.from(task, 'base64'), signal);
    if (answer.length > MAX_PAYLOAD_BYTES) return { tooLarge: answer.length };
    return { answer: Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('base64') };
  };
}

export function isTaskEvent(event: unknown): event is WorkerEvent {
  return typeof (event as Partial<WorkerEvent> | null | undefined)?.task === 'string';
}
